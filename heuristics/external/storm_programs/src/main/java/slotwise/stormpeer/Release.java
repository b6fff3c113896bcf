package slotwise.stormpeer;

import java.util.Map;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SchedulerAssignmentImpl;
import org.apache.storm.scheduler.WorkerSlot;

/** What the code shared by the programs makes differently in this release of Storm. */
final class Release {
    private Release() {
    }

    static SchedulerAssignmentImpl assignment(
        String topology, Map<ExecutorDetails, WorkerSlot> slots) {
        return new SchedulerAssignmentImpl(topology, slots, null, null);
    }
}
