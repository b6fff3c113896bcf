package slotwise.stormpeer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.resource.ResourceAwareScheduler;
import org.apache.storm.utils.Time;

/** One round of Storm's scheduler on an instance, as often as asked. */
final class Rounds {
    private Rounds() {
    }

    /** Schedules; where the scheduler itself throws, the answer is its message, {@code failed}. */
    @SuppressWarnings("try")
    static ObjectNode once(Request request, List<Double> seconds) {
        JsonNode instance = request.instance();
        Racks.read(instance.get("cluster").get("nodes"));
        Map<String, Object> conf = Settings.cluster(instance);
        Map<String, Tasks> named = new LinkedHashMap<>();
        Map<String, TopologyDetails> details = new HashMap<>();
        for (JsonNode topology : instance.get("topologies")) {
            Tasks tasks = new Tasks(topology);
            named.put(tasks.topology(), tasks);
            details.put(tasks.topology(), new TopologyOf(topology).details(
                Settings.topology(conf, topology), tasks));
        }
        int count = named.values().stream().mapToInt(Tasks::size).sum();
        Topologies topologies = new Topologies(details);
        Cluster cluster = new Cluster(
            new NamesOfSupervisors(), ClusterOf.supervisors(instance, count),
            ClusterOf.running(instance, named), conf);
        ResourceAwareScheduler scheduler = new ResourceAwareScheduler();
        scheduler.prepare(conf);
        // The clock stands still: up-times are differences of launch times, at any moment.
        try (Time.SimulatedTime clock = new Time.SimulatedTime()) {
            long start = System.nanoTime();
            scheduler.schedule(topologies, cluster);
            seconds.add((System.nanoTime() - start) / 1e9);
        } catch (IllegalStateException error) {
            return JsonNodeFactory.instance.objectNode().put("failed", error.getMessage());
        }
        return Answer.of(request.hash(), named, cluster, Map.of());
    }
}
