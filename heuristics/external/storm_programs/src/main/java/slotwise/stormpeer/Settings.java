package slotwise.stormpeer;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.Config;
import org.apache.storm.DaemonConfig;
import org.apache.storm.utils.Utils;

/** Storm's configuration: its own defaults, and what the instance sets. */
final class Settings {
    private static final double UNLIMITED = Double.MAX_VALUE;
    private static final Map<String, Object> DEFAULTS = Utils.readDefaultConfig();

    private Settings() {
    }

    /** Of the cluster. */
    static Map<String, Object> cluster(Request request) {
        Map<String, Object> conf = new HashMap<>(DEFAULTS);
        JsonNode scheduler = request.instance().get("scheduler");
        conf.put(Config.STORM_NETWORK_TOPOGRAPHY_PLUGIN, Racks.class.getName());
        conf.put(
            DaemonConfig.STORM_WORKER_MIN_CPU_PCORE_PERCENT,
            scheduler.get("worker_min_cpu").doubleValue());
        conf.put(DaemonConfig.RESOURCE_AWARE_SCHEDULER_PRIORITY_STRATEGY, request.priorityClass());
        conf.put(DaemonConfig.RESOURCE_AWARE_SCHEDULER_USER_POOLS, Owners.pools(scheduler.get("pools")));
        conf.put(DaemonConfig.SCHEDULING_TIMEOUT_SECONDS_PER_TOPOLOGY, request.timeoutSeconds());
        conf.put(
            DaemonConfig.RESOURCE_AWARE_SCHEDULER_MAX_TOPOLOGY_SCHEDULING_ATTEMPTS,
            request.attempts());
        conf.put(DaemonConfig.RESOURCE_AWARE_SCHEDULER_MAX_STATE_SEARCH, request.maxStates());
        return conf;
    }

    /** Of one topology. */
    static Map<String, Object> topology(
        Map<String, Object> cluster, Request request, JsonNode topology) {
        Map<String, Object> conf = new HashMap<>(cluster);
        JsonNode heap = topology.get("worker_max_heap_mb");
        conf.put(Config.TOPOLOGY_NAME, topology.get("id").asText());
        conf.put(Config.TOPOLOGY_SCHEDULER_STRATEGY, request.strategyClass(topology));
        conf.put(Config.TOPOLOGY_PRIORITY, topology.get("priority").intValue());
        conf.put(
            Config.TOPOLOGY_WORKER_MAX_HEAP_SIZE_MB,
            heap.isNull() ? UNLIMITED : heap.doubleValue());
        conf.put(Config.TOPOLOGY_SCHEDULER_FAVORED_NODES, texts(topology.get("favored_nodes")));
        conf.put(Config.TOPOLOGY_SCHEDULER_UNFAVORED_NODES, texts(topology.get("unfavored_nodes")));
        conf.put(
            Config.TOPOLOGY_RAS_ONE_EXECUTOR_PER_WORKER,
            topology.get("one_task_per_worker").booleanValue());
        conf.put(
            Config.TOPOLOGY_RAS_ONE_COMPONENT_PER_WORKER,
            topology.get("one_component_per_worker").booleanValue());
        conf.put(Config.TOPOLOGY_RAS_CONSTRAINTS, constraints(topology.get("constraints")));
        if (topology.has("ras")) {
            putSearch(conf, topology.get("ras"));
        }
        if (!topology.get("ackers").isNull()) {
            putAckers(conf, topology.get("ackers"));
        }
        return conf;
    }

    private static void putSearch(Map<String, Object> conf, JsonNode ras) {
        conf.put(
            Config.TOPOLOGY_RAS_ORDER_EXECUTORS_BY_PROXIMITY_NEEDS,
            ras.get("order_by_proximity").booleanValue());
        conf.put(
            Config.TOPOLOGY_RAS_CONSTRAINT_MAX_STATE_SEARCH, ras.get("max_states").intValue());
        if (!ras.get("isolated_machines").isNull()) {
            conf.put(Config.TOPOLOGY_ISOLATED_MACHINES, ras.get("isolated_machines").intValue());
        }
        if (!ras.get("max_seconds").isNull()) {
            conf.put(
                Config.TOPOLOGY_RAS_CONSTRAINT_MAX_TIME_SECS, ras.get("max_seconds").intValue());
        }
    }

    private static void putAckers(Map<String, Object> conf, JsonNode ackers) {
        JsonNode resources = ackers.get("resources");
        conf.put(Config.TOPOLOGY_ACKER_EXECUTORS, ackers.get("count").intValue());
        conf.put(
            Config.TOPOLOGY_RAS_ACKER_EXECUTORS_PER_WORKER, ackers.get("per_worker").intValue());
        conf.put(
            Config.TOPOLOGY_ACKER_CPU_PCORE_PERCENT, Numbers.amount(resources, Numbers.CPU));
        conf.put(
            Config.TOPOLOGY_ACKER_RESOURCES_ONHEAP_MEMORY_MB,
            Numbers.amount(resources, Numbers.ON_HEAP));
        conf.put(
            Config.TOPOLOGY_ACKER_RESOURCES_OFFHEAP_MEMORY_MB,
            Numbers.amount(resources, Numbers.OFF_HEAP));
        Map<String, Double> generic = new HashMap<>();
        Numbers.putGeneric(resources, generic);
        conf.put(Config.TOPOLOGY_COMPONENT_RESOURCES_MAP, generic);
    }

    /** What one executor of a component asks for: all of it, so that no default of Storm counts. */
    static Map<String, Double> request(JsonNode resources) {
        Map<String, Double> found = new HashMap<>();
        found.put(
            Config.TOPOLOGY_COMPONENT_CPU_PCORE_PERCENT, Numbers.amount(resources, Numbers.CPU));
        found.put(
            Config.TOPOLOGY_COMPONENT_RESOURCES_ONHEAP_MEMORY_MB,
            Numbers.amount(resources, Numbers.ON_HEAP));
        found.put(
            Config.TOPOLOGY_COMPONENT_RESOURCES_OFFHEAP_MEMORY_MB,
            Numbers.amount(resources, Numbers.OFF_HEAP));
        Numbers.putGeneric(resources, found);
        return found;
    }

    /** In Storm's newer form: component to the most on a node, and what it may not meet. */
    private static Map<String, Map<String, Object>> constraints(JsonNode constraints) {
        Map<String, List<String>> apart = new HashMap<>();
        for (JsonNode pair : constraints.get("incompatible")) {
            apart.computeIfAbsent(pair.get(0).asText(), key -> new ArrayList<>())
                .add(pair.get(1).asText());
        }
        Map<String, Map<String, Object>> found = new HashMap<>();
        apart.forEach((component, others) -> found
            .computeIfAbsent(component, key -> new HashMap<>())
            .put("incompatibleComponents", others));
        constraints.get("max_per_node").properties().forEach(entry -> found
            .computeIfAbsent(entry.getKey(), key -> new HashMap<>())
            .put("maxNodeCoLocationCnt", entry.getValue().intValue()));
        return found;
    }

    private static List<String> texts(JsonNode list) {
        List<String> found = new ArrayList<>();
        list.forEach(one -> found.add(one.asText()));
        return found;
    }
}
