package slotwise.stormpeer;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.storm.Config;
import org.apache.storm.generated.Bolt;
import org.apache.storm.generated.ComponentCommon;
import org.apache.storm.generated.ComponentObject;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.Grouping;
import org.apache.storm.generated.NullStruct;
import org.apache.storm.generated.SharedMemory;
import org.apache.storm.generated.SpoutSpec;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.shade.net.minidev.json.JSONValue;
import org.apache.storm.utils.Utils;

/** A topology as Storm's schedulers see it. */
final class TopologyOf {
    private final JsonNode data;

    TopologyOf(JsonNode data) {
        this.data = data;
    }

    TopologyDetails details(Map<String, Object> conf, Tasks tasks) {
        return new TopologyDetails(
            tasks.topology(), conf, topology(), data.path("workers").asInt(1),
            tasks.components(),
            data.get("launch_time").intValue(), Owners.name(data.get("owner").asText()));
    }

    private StormTopology topology() {
        Map<String, SpoutSpec> spouts = new LinkedHashMap<>();
        Map<String, Bolt> bolts = new LinkedHashMap<>();
        for (JsonNode component : data.get("components")) {
            String id = component.get("id").asText();
            String kind = component.get("kind").asText();
            if (kind.equals("system") && !Utils.isSystemId(id)) {
                throw new IllegalArgumentException(
                    "component " + id + ": Storm knows system components by a name with __");
            }
            ComponentCommon common = common(component);
            if (kind.equals("spout")) {
                spouts.put(id, new SpoutSpec(new ComponentObject(), common));
            } else {
                bolts.put(id, new Bolt(new ComponentObject(), common));
            }
        }
        StormTopology topology = new StormTopology(spouts, bolts, Map.of());
        addSharedMemory(topology);
        return topology;
    }

    private ComponentCommon common(JsonNode component) {
        ComponentCommon common = new ComponentCommon(inputs(component.get("id").asText()), Map.of());
        common.set_parallelism_hint(component.get("parallelism").intValue());
        Map<String, Double> resources = new HashMap<>();
        if (!data.get("ackers").isNull()) {
            // The defaults of the topology hold what its ackers need; others do not need that.
            Numbers.putGeneric(data.get("ackers").get("resources"), resources);
            resources.replaceAll((key, amount) -> 0.0);
        }
        resources.putAll(Settings.request(component.get("resources")));
        common.set_json_conf(
            JSONValue.toJSONString(Map.of(Config.TOPOLOGY_COMPONENT_RESOURCES_MAP, resources)));
        return common;
    }

    /** One input for each stream; Storm leaves the streams of system components out of account. */
    private Map<GlobalStreamId, Grouping> inputs(String component) {
        Map<GlobalStreamId, Grouping> inputs = new LinkedHashMap<>();
        if (Utils.isSystemId(component)) {
            return inputs;
        }
        int index = 0;
        for (JsonNode stream : data.get("streams")) {
            String source = stream.get("from").asText();
            if (stream.get("to").asText().equals(component) && !Utils.isSystemId(source)) {
                inputs.put(
                    new GlobalStreamId(source, "s" + index++),
                    grouping(stream.get("grouping").asText()));
            }
        }
        return inputs;
    }

    /** Storm's schedulers tell shuffle and local-or-shuffle from the rest, and no more. */
    private static Grouping grouping(String name) {
        return switch (name) {
            case "shuffle" -> Grouping.shuffle(new NullStruct());
            case "local_or_shuffle" -> Grouping.local_or_shuffle(new NullStruct());
            default -> Grouping.fields(List.of("key"));
        };
    }

    private void addSharedMemory(StormTopology topology) {
        Map<String, SharedMemory> regions = new LinkedHashMap<>();
        Map<String, Set<String>> regionsOf = new LinkedHashMap<>();
        for (JsonNode region : data.get("shared_memory")) {
            String id = region.get("id").asText();
            double mb = region.get("mb").doubleValue();
            SharedMemory shared = new SharedMemory(id);
            switch (region.get("kind").asText()) {
                case "onheap" -> shared.set_on_heap(mb);
                case "offheap_worker" -> shared.set_off_heap_worker(mb);
                case "offheap_node" -> shared.set_off_heap_node(mb);
                default -> throw new IllegalArgumentException("shared_memory.kind: " + region);
            }
            regions.put(id, shared);
            for (JsonNode component : region.get("components")) {
                regionsOf.computeIfAbsent(component.asText(), key -> new HashSet<>()).add(id);
            }
        }
        if (!regions.isEmpty()) {
            topology.set_shared_memory(regions);
            topology.set_component_to_shared_memory(regionsOf);
        }
    }
}
