package slotwise.storm;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SchedulerAssignment;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.WorkerSlot;
import org.apache.storm.scheduler.resource.RasNode;
import org.apache.storm.scheduler.resource.RasNodes;
import slotwise.storm.Plan.Unusable;
import slotwise.storm.Plan.Worker;

/** Places a topology as its plan says, if all of it fits the cluster as it is now. */
final class Follower {
    /** The setting of Nimbus that names the folder of plans. */
    static final String FOLDER = "slotwise.plans";
    /** The setting that makes plans be compared and not followed. */
    static final String SHADOW = "slotwise.shadow";

    private Follower() {
    }

    /**
     * Assigns what is not assigned, or leaves the cluster as it was.
     *
     * @throws Unusable when the plan cannot be followed as a whole
     */
    static int follow(Map<String, Object> conf, Cluster cluster, TopologyDetails topology)
        throws Unusable {
        RasNodes nodes = new RasNodes(cluster);
        Map<ExecutorDetails, WorkerSlot> assigned = new LinkedHashMap<>();
        try {
            Map<ExecutorDetails, Worker> planned = planned(conf, topology);
            Map<ExecutorDetails, WorkerSlot> running = running(cluster, topology);
            Map<Worker, WorkerSlot> slots = slots(cluster, planned, running);
            for (ExecutorDetails executor : sorted(planned.keySet())) {
                if (running.containsKey(executor)) {
                    continue;
                }
                WorkerSlot slot = slots.get(planned.get(executor));
                RasNode node = nodes.getNodeById(slot.getNodeId());
                if (!node.wouldFit(slot, executor, topology)) {
                    throw new Unusable("executor " + executor + " does not fit on " + slot);
                }
                node.assignSingleExecutor(slot, executor, topology);
                assigned.put(executor, slot);
            }
        } catch (Unusable | RuntimeException failed) {
            // Whatever went wrong: the wrapped strategy starts from the cluster as it was.
            assigned.forEach((executor, slot) ->
                nodes.getNodeById(slot.getNodeId()).freeSingleExecutor(executor, topology));
            throw failed instanceof Unusable why ? why : new Unusable(failed.toString());
        }
        return assigned.size();
    }

    /** How many executors are placed on another node than planned. */
    static long elsewhere(Map<String, Object> conf, Cluster cluster, TopologyDetails topology)
        throws Unusable {
        try {
            Map<ExecutorDetails, WorkerSlot> running = running(cluster, topology);
            return planned(conf, topology).entrySet().stream()
                .filter(one -> !running.containsKey(one.getKey())
                    || !running.get(one.getKey()).getNodeId().equals(one.getValue().node()))
                .count();
        } catch (RuntimeException failed) {
            throw new Unusable(failed.toString());
        }
    }

    /** The worker of each executor; the plan must name all of them and no others. */
    private static Map<ExecutorDetails, Worker> planned(
        Map<String, Object> conf, TopologyDetails topology) throws Unusable {
        if (!(conf.get(FOLDER) instanceof String folder) || folder.isEmpty()) {
            throw new Unusable(FOLDER + " names no folder");
        }
        Plan plan = Plan.read(
            folder, topology.getName(), topology.getId(), Instant.now().getEpochSecond());
        Map<String, List<ExecutorDetails>> executors = new HashMap<>();
        topology.getExecutorToComponent().forEach((executor, component) ->
            executors.computeIfAbsent(component, key -> new ArrayList<>()).add(executor));
        if (!executors.keySet().equals(plan.workers().keySet())) {
            throw new Unusable("the plan has other components than the topology");
        }
        Map<ExecutorDetails, Worker> planned = new LinkedHashMap<>();
        for (Map.Entry<String, List<ExecutorDetails>> entry : executors.entrySet()) {
            List<Worker> places = plan.workers().get(entry.getKey());
            List<ExecutorDetails> own = sorted(entry.getValue());
            if (places.size() != own.size()) {
                throw new Unusable("the plan has " + places.size() + " executors of "
                    + entry.getKey() + ", the topology " + own.size());
            }
            for (int index = 0; index < own.size(); index++) {
                planned.put(own.get(index), places.get(index));
            }
        }
        return planned;
    }

    private static Map<ExecutorDetails, WorkerSlot> running(
        Cluster cluster, TopologyDetails topology) {
        SchedulerAssignment assignment = cluster.getAssignmentById(topology.getId());
        return assignment == null ? Map.of() : assignment.getExecutorToSlot();
    }

    /** The slot of each worker of the plan: where it runs, the port that it names, or a free one. */
    private static Map<Worker, WorkerSlot> slots(
        Cluster cluster, Map<ExecutorDetails, Worker> planned,
        Map<ExecutorDetails, WorkerSlot> running) throws Unusable {
        Map<Worker, WorkerSlot> slots = new LinkedHashMap<>();
        for (Map.Entry<ExecutorDetails, WorkerSlot> one : running.entrySet()) {
            Worker worker = planned.get(one.getKey());
            if (worker == null) {
                throw new Unusable("executor " + one.getKey() + " runs and is not planned");
            }
            WorkerSlot before = slots.putIfAbsent(worker, one.getValue());
            if (!worker.node().equals(one.getValue().getNodeId())
                || before != null && !before.equals(one.getValue())) {
                throw new Unusable("executor " + one.getKey() + " runs elsewhere than planned");
            }
        }
        if (Set.copyOf(slots.values()).size() != slots.size()) {
            throw new Unusable("executors run in one worker that the plan keeps apart");
        }
        Map<String, TreeSet<Integer>> free = new HashMap<>();
        List<Worker> unnamed = new ArrayList<>();
        for (Worker worker : planned.values()) {
            if (slots.containsKey(worker) || unnamed.contains(worker)) {
                continue;
            }
            if (!free.containsKey(worker.node())) {
                free.put(worker.node(), freePorts(cluster, worker.node()));
            }
            int label = (int) worker.label();
            if (label == worker.label() && free.get(worker.node()).remove(label)) {
                slots.put(worker, new WorkerSlot(worker.node(), label));
            } else {
                unnamed.add(worker);
            }
        }
        for (Worker worker : unnamed) {
            Integer port = free.get(worker.node()).pollFirst();
            if (port == null) {
                throw new Unusable("node " + worker.node() + " has no slot for a planned worker");
            }
            slots.put(worker, new WorkerSlot(worker.node(), port));
        }
        return slots;
    }

    private static TreeSet<Integer> freePorts(Cluster cluster, String node) throws Unusable {
        if (cluster.getSupervisorById(node) == null || cluster.isBlackListed(node)) {
            throw new Unusable("node " + node + " is not there");
        }
        return new TreeSet<>(cluster.getAvailablePorts(cluster.getSupervisorById(node)));
    }

    private static List<ExecutorDetails> sorted(Iterable<ExecutorDetails> executors) {
        List<ExecutorDetails> sorted = new ArrayList<>();
        executors.forEach(sorted::add);
        sorted.sort(Comparator.comparingInt(ExecutorDetails::getStartTask));
        return sorted;
    }
}
