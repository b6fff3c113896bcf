package slotwise.stormpeer;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.storm.scheduler.INimbus;
import org.apache.storm.scheduler.IScheduler;
import org.apache.storm.scheduler.SupervisorDetails;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.WorkerSlot;

/** Stands in for Nimbus, which the cluster asks for the hosts of supervisors, and nothing else. */
@SuppressWarnings("rawtypes")
final class NamesOfSupervisors implements INimbus {
    @Override
    public void prepare(Map conf, String localDir) {
    }

    @Override
    public Collection<WorkerSlot> allSlotsAvailableForScheduling(
        Collection<SupervisorDetails> supervisors, Topologies topologies, Set<String> missing) {
        return List.of();
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
