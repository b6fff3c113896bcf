package slotwise.stormpeer;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SchedulerAssignment;
import org.apache.storm.scheduler.WorkerSlot;
import org.apache.storm.utils.VersionInfo;

/**
 * What comes back.
 *
 * <p>{@code storm}: the release. {@code placement}: the data of a {@code slotwise.placement/1}
 * file. {@code topologies}: for each one whether all of it has a place, and Storm's status.
 * {@code evicted}: topology to those that were evicted for it on the way, in vain or not.
 * {@code seconds}: wall clock of each run, inside of the scheduler.
 */
final class Answer {
    private Answer() {
    }

    static ObjectNode of(
        String hash, Map<String, Tasks> named, Cluster cluster,
        Map<String, Set<String>> evicted) {
        ObjectNode answer = JsonNodeFactory.instance.objectNode();
        answer.put("storm", VersionInfo.getVersion());
        ObjectNode placement = answer.putObject("placement");
        placement.put("format", "slotwise.placement/1");
        placement.put("instance", hash);
        ObjectNode placed = placement.putObject("topologies");
        ObjectNode outcomes = answer.putObject("topologies");
        for (Tasks tasks : named.values()) {
            int count = putPlaces(placed, tasks, cluster.getAssignmentById(tasks.topology()));
            ObjectNode outcome = outcomes.putObject(tasks.topology());
            outcome.put("scheduled", count == tasks.size());
            outcome.put("status", cluster.getStatusMap().get(tasks.topology()));
        }
        ObjectNode victims = answer.putObject("evicted");
        new TreeMap<>(evicted).forEach(
            (winner, losers) -> new TreeSet<>(losers).forEach(victims.withArray(winner)::add));
        return answer;
    }

    private static int putPlaces(
        ObjectNode placed, Tasks tasks, SchedulerAssignment assignment) {
        if (assignment == null || assignment.getExecutorToSlot().isEmpty()) {
            return 0;
        }
        Map<Integer, ExecutorDetails> executors = new TreeMap<>();
        assignment.getExecutors().forEach(one -> executors.put(one.getStartTask(), one));
        ObjectNode places = placed.putObject(tasks.topology());
        for (ExecutorDetails executor : executors.values()) {
            WorkerSlot slot = assignment.getExecutorToSlot().get(executor);
            ObjectNode place = places.putObject(tasks.nameOf(executor));
            place.put("node", slot.getNodeId());
            place.put("worker", slot.getPort());
        }
        return executors.size();
    }
}
