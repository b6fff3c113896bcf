package slotwise.stormpeer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.SupervisorDetails;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.resource.ResourceAwareScheduler;
import org.apache.storm.scheduler.resource.normalization.NormalizedResources;
import org.apache.storm.scheduler.resource.normalization.ResourceMetrics;
import org.apache.storm.utils.Time;

/** One round of Storm's scheduler on an instance, as often as asked. */
final class Rounds {
    private Rounds() {
    }

    /** Schedules from the instance's own state; adds the seconds that it took. */
    @SuppressWarnings("try")
    static ObjectNode once(Request request, List<Double> seconds) {
        JsonNode instance = request.instance();
        // Storm numbers generic resources as it meets them, once per process.
        NormalizedResources.resetResourceNames();
        Racks.read(instance.get("cluster").get("nodes"));
        Map<String, Tasks> named = new LinkedHashMap<>();
        instance.get("topologies").forEach(
            topology -> named.put(topology.get("id").asText(), new Tasks(topology)));
        Map<String, Object> conf = Settings.cluster(request);
        int tasks = named.values().stream().mapToInt(Tasks::size).sum();
        Map<String, SupervisorDetails> supervisors = ClusterOf.supervisors(instance, tasks);
        Map<String, TopologyDetails> details = new HashMap<>();
        for (JsonNode topology : instance.get("topologies")) {
            String id = topology.get("id").asText();
            Map<String, Object> own = Settings.topology(conf, request, topology);
            details.put(id, new TopologyOf(topology).details(own, named.get(id)));
        }
        Topologies topologies = new Topologies(details);
        StormMetricsRegistry metrics = new StormMetricsRegistry();
        Cluster cluster = new Cluster(
            new SlotsOfSupervisors(), new ResourceMetrics(metrics), supervisors,
            ClusterOf.running(instance, named), topologies, conf);
        ResourceAwareScheduler scheduler = new ResourceAwareScheduler();
        scheduler.prepare(conf, metrics);
        // The clock stands still: up-times are differences of launch times, at any moment.
        try (Time.SimulatedTime clock = new Time.SimulatedTime()) {
            Time.advanceTimeSecs(latestLaunch(details));
            long start = System.nanoTime();
            scheduler.schedule(topologies, cluster);
            seconds.add((System.nanoTime() - start) / 1e9);
        } finally {
            scheduler.cleanup();
        }
        return Answer.of(request.hash(), named, cluster, scheduler.getEvictedTopologiesMap());
    }

    private static long latestLaunch(Map<String, TopologyDetails> details) {
        return details.values().stream().mapToLong(TopologyDetails::getLaunchTime).max().orElse(0);
    }
}
