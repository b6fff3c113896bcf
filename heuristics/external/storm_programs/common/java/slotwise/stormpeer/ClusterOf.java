package slotwise.stormpeer;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.storm.Config;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SchedulerAssignmentImpl;
import org.apache.storm.scheduler.SupervisorDetails;
import org.apache.storm.scheduler.WorkerSlot;

/** Supervisors and running assignments of an instance. */
final class ClusterOf {
    private ClusterOf() {
    }

    /**
     * The supervisors, by id. Ports are the labels that running workers have, then the least
     * numbers that are free, as many as the node has slots; a node without a limit gets as many as
     * the instance has tasks.
     */
    static Map<String, SupervisorDetails> supervisors(JsonNode instance, int tasks) {
        Map<String, Set<Integer>> used = usedPorts(instance);
        Map<String, SupervisorDetails> found = new HashMap<>();
        for (JsonNode node : instance.get("cluster").get("nodes")) {
            String id = node.get("id").asText();
            JsonNode resources = node.get("resources");
            Map<String, Double> capacity = new LinkedHashMap<>();
            capacity.put(Config.SUPERVISOR_CPU_CAPACITY, Numbers.amount(resources, Numbers.CPU));
            capacity.put(
                Config.SUPERVISOR_MEMORY_CAPACITY_MB, Numbers.amount(resources, Numbers.MEMORY));
            Numbers.putGeneric(resources, capacity);
            int slots = node.get("slots").isNull() ? tasks : node.get("slots").intValue();
            Set<Integer> ports = new TreeSet<>(used.getOrDefault(id, Set.of()));
            for (int port = 0; ports.size() < slots; port++) {
                ports.add(port);
            }
            String host = node.get("host").asText();
            List<Number> listed = new ArrayList<>(ports);
            found.put(id, new SupervisorDetails(id, host, null, listed, capacity));
        }
        return found;
    }

    private static Map<String, Set<Integer>> usedPorts(JsonNode instance) {
        Map<String, Set<Integer>> used = new HashMap<>();
        for (JsonNode tasks : instance.get("running")) {
            for (JsonNode place : tasks) {
                used.computeIfAbsent(place.get("node").asText(), id -> new TreeSet<>())
                    .add(place.get("worker").intValue());
            }
        }
        return used;
    }

    /** What runs, by topology; executors in the order of their numbers. */
    static Map<String, SchedulerAssignmentImpl> running(
        JsonNode instance, Map<String, Tasks> named) {
        Map<String, SchedulerAssignmentImpl> found = new HashMap<>();
        instance.get("running").properties().forEach(entry -> {
            Tasks tasks = named.get(entry.getKey());
            Map<Integer, JsonNode> places = new TreeMap<>();
            entry.getValue().properties().forEach(
                task -> places.put(tasks.numberOf(task.getKey()), task.getValue()));
            Map<ExecutorDetails, WorkerSlot> slots = new LinkedHashMap<>();
            places.forEach((number, place) -> slots.put(
                new ExecutorDetails(number, number),
                new WorkerSlot(place.get("node").asText(), place.get("worker").intValue())));
            if (!slots.isEmpty()) {
                found.put(entry.getKey(), Release.assignment(entry.getKey(), slots));
            }
        });
        return found;
    }
}
