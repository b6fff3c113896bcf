package slotwise.stormpeer;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.storm.scheduler.INimbus;
import org.apache.storm.scheduler.IScheduler;
import org.apache.storm.scheduler.SupervisorDetails;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.WorkerSlot;

/** Stands in for Nimbus, which the cluster asks for names and slots. */
final class SlotsOfSupervisors implements INimbus {
    @Override
    public void prepare(Map<String, Object> conf, String localDir) {
    }

    @Override
    public Collection<WorkerSlot> allSlotsAvailableForScheduling(
        Collection<SupervisorDetails> supervisors, Topologies topologies, Set<String> missing) {
        List<WorkerSlot> slots = new ArrayList<>();
        for (SupervisorDetails supervisor : supervisors) {
            for (Integer port : supervisor.getAllPorts()) {
                slots.add(new WorkerSlot(supervisor.getId(), port));
            }
        }
        return slots;
    }

    @Override
    public void assignSlots(Topologies topologies, Map<String, Collection<WorkerSlot>> slots) {
    }

    @Override
    public String getHostName(Map<String, SupervisorDetails> supervisors, String nodeId) {
        SupervisorDetails found = supervisors.get(nodeId);
        return found == null ? null : found.getHost();
    }

    @Override
    public IScheduler getForcedScheduler() {
        return null;
    }
}
