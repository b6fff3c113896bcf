package slotwise.stormpeer;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.utils.Utils;

/** Storm's configuration: its own defaults, and what the instance sets. */
final class Settings {
    private static final double UNLIMITED = Double.MAX_VALUE;

    private Settings() {
    }

    /** Of the cluster. */
    static Map<String, Object> cluster(JsonNode instance) {
        Map<String, Object> conf = new HashMap<>();
        for (Object entry : Utils.readDefaultConfig().entrySet()) {
            Map.Entry<?, ?> one = (Map.Entry<?, ?>) entry;
            conf.put((String) one.getKey(), one.getValue());
        }
        conf.put(Config.STORM_NETWORK_TOPOGRAPHY_PLUGIN, Racks.class.getName());
        conf.put(
            Config.RESOURCE_AWARE_SCHEDULER_USER_POOLS,
            Owners.pools(instance.get("scheduler").get("pools")));
        return conf;
    }

    /**
     * Of one topology. Its ackers, which are no part of the graph that Storm 1.0.6 is given, need
     * what its defaults say; all other components say themselves what they need.
     */
    static Map<String, Object> topology(Map<String, Object> cluster, JsonNode topology) {
        Map<String, Object> conf = new HashMap<>(cluster);
        JsonNode heap = topology.get("worker_max_heap_mb");
        conf.put(Config.TOPOLOGY_NAME, topology.get("id").asText());
        conf.put(Config.TOPOLOGY_PRIORITY, topology.get("priority").intValue());
        conf.put(
            Config.TOPOLOGY_WORKER_MAX_HEAP_SIZE_MB,
            heap.isNull() ? UNLIMITED : heap.doubleValue());
        if (!topology.get("ackers").isNull()) {
            conf.putAll(request(topology.get("ackers").get("resources")));
        }
        return conf;
    }

    /** What one executor asks for: all of it, so that no default of Storm counts. */
    static Map<String, Double> request(JsonNode resources) {
        return Map.of(
            Config.TOPOLOGY_COMPONENT_CPU_PCORE_PERCENT, Numbers.amount(resources, Numbers.CPU),
            Config.TOPOLOGY_COMPONENT_RESOURCES_ONHEAP_MEMORY_MB,
            Numbers.amount(resources, Numbers.ON_HEAP),
            Config.TOPOLOGY_COMPONENT_RESOURCES_OFFHEAP_MEMORY_MB,
            Numbers.amount(resources, Numbers.OFF_HEAP));
    }
}
