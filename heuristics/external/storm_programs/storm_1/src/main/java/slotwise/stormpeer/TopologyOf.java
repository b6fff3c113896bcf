package slotwise.stormpeer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;
import org.apache.storm.generated.Bolt;
import org.apache.storm.generated.ComponentCommon;
import org.apache.storm.generated.ComponentObject;
import org.apache.storm.generated.GlobalStreamId;
import org.apache.storm.generated.Grouping;
import org.apache.storm.generated.NullStruct;
import org.apache.storm.generated.SpoutSpec;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.utils.Utils;

/** A topology as the scheduler sees it. */
record TopologyOf(JsonNode data) {
    TopologyDetails details(Map<String, Object> conf, Tasks tasks) {
        return new TopologyDetails(
            tasks.topology(), conf, asNimbusReadsIt(), data.path("workers").asInt(1),
            tasks.components(), data.get("launch_time").intValue(),
            Owners.name(data.get("owner").asText()));
    }

    /** Maps of components are in the order that they have after Thrift: it decides ties. */
    private StormTopology asNimbusReadsIt() {
        byte[] submitted = Utils.thriftSerialize(topology());
        return Utils.thriftDeserialize(StormTopology.class, submitted);
    }

    /** In the hash maps of Storm's {@code TopologyBuilder}, filled in the order of the file. */
    private StormTopology topology() {
        Map<String, SpoutSpec> spouts = new HashMap<>();
        Map<String, Bolt> bolts = new HashMap<>();
        ComponentObject code = ComponentObject.serialized_java(new byte[0]);
        for (JsonNode component : data.get("components")) {
            String id = component.get("id").asText();
            if (component.get("kind").asText().equals("spout")) {
                spouts.put(id, new SpoutSpec(code, common(component)));
            } else {
                bolts.put(id, new Bolt(code, common(component)));
            }
        }
        return new StormTopology(spouts, bolts, new HashMap<>());
    }

    private static String json(Map<String, Double> amounts) {
        ObjectNode found = JsonNodeFactory.instance.objectNode();
        amounts.forEach(found::put);
        return found.toString();
    }

    private ComponentCommon common(JsonNode component) {
        ComponentCommon common =
            new ComponentCommon(inputs(component.get("id").asText()), new HashMap<>());
        common.set_parallelism_hint(component.get("parallelism").intValue());
        common.set_json_conf(json(Settings.request(component.get("resources"))));
        return common;
    }

    /**
     * One input for each stream: {@code default}, and {@code s1}, {@code s2}, ... for more streams
     * of the same two components. Users cannot name system components.
     */
    private Map<GlobalStreamId, Grouping> inputs(String component) {
        Map<GlobalStreamId, Grouping> inputs = new HashMap<>();
        Map<String, Integer> count = new HashMap<>();
        for (JsonNode stream : data.get("streams")) {
            String source = stream.get("from").asText();
            boolean joins = stream.get("to").asText().equals(component);
            if (joins && !Utils.isSystemId(component) && !Utils.isSystemId(source)) {
                int number = count.merge(source, 1, Integer::sum) - 1;
                String name = number == 0 ? Utils.DEFAULT_STREAM_ID : "s" + number;
                inputs.put(
                    new GlobalStreamId(source, name), Grouping.shuffle(new NullStruct()));
            }
        }
        return inputs;
    }
}
