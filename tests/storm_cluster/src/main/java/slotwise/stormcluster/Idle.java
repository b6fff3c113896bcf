package slotwise.stormcluster;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.storm.Config;
import org.apache.storm.generated.SharedMemory;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.BoltDeclarer;
import org.apache.storm.topology.ComponentConfigurationDeclarer;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.topology.base.BaseRichSpout;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.utils.Utils;

/** Topologies of an instance whose components do nothing. */
public final class Idle {
    private Idle() {
    }

    /** The topology's settings, with {@code conf} of the request on top. */
    static Config conf(JsonNode topology) {
        Config conf = new Config();
        conf.put(Config.TOPOLOGY_PRIORITY, topology.path("priority").asInt(29));
        conf.put(Config.TOPOLOGY_ACKER_EXECUTORS, 0);
        JsonNode heap = topology.path("worker_max_heap_mb");
        if (heap.isNumber()) {
            conf.put(Config.TOPOLOGY_WORKER_MAX_HEAP_SIZE_MB, heap.doubleValue());
        }
        conf.put(Config.TOPOLOGY_WORKERS, topology.path("workers").asInt(1));
        conf.put(Config.TOPOLOGY_RAS_ONE_EXECUTOR_PER_WORKER, topology.path("one_task_per_worker").asBoolean());
        conf.put(
            Config.TOPOLOGY_RAS_ONE_COMPONENT_PER_WORKER,
            topology.path("one_component_per_worker").asBoolean());
        JsonNode ackers = topology.path("ackers");
        if (ackers.isObject()) {
            JsonNode demands = ackers.get("resources");
            conf.put(Config.TOPOLOGY_ACKER_EXECUTORS, ackers.get("count").intValue());
            conf.put(Config.TOPOLOGY_ACKER_CPU_PCORE_PERCENT, demands.path("cpu").asDouble(0));
            conf.put(Config.TOPOLOGY_ACKER_RESOURCES_ONHEAP_MEMORY_MB, demands.path("onheap_mb").asDouble(0));
            conf.put(Config.TOPOLOGY_ACKER_RESOURCES_OFFHEAP_MEMORY_MB, demands.path("offheap_mb").asDouble(0));
        }
        if (topology.has("conf")) {
            conf.putAll(StormCluster.map(topology.get("conf")));
        }
        return conf;
    }

    static StormTopology topology(JsonNode data) {
        Map<String, Set<String>> sends = new HashMap<>();
        int index = 0;
        for (JsonNode stream : data.path("streams")) {
            sends.computeIfAbsent(stream.get("from").asText(), key -> new TreeSet<>()).add("s" + index++);
        }
        TopologyBuilder builder = new TopologyBuilder();
        for (JsonNode component : data.get("components")) {
            String id = component.get("id").asText();
            int parallelism = component.get("parallelism").intValue();
            Set<String> streams = new HashSet<>(sends.getOrDefault(id, Set.of()));
            ComponentConfigurationDeclarer<?> declarer;
            if (component.get("kind").asText().equals("spout")) {
                declarer = builder.setSpout(id, new Spout(streams), parallelism);
            } else {
                BoltDeclarer bolt = builder.setBolt(id, new Bolt(streams), parallelism);
                subscribe(bolt, id, data);
                declarer = bolt;
            }
            declare(declarer, component.get("resources"));
            share(declarer, id, data);
        }
        return builder.createTopology();
    }

    static void declare(ComponentConfigurationDeclarer<?> declarer, JsonNode demands) {
        declarer.setCPULoad(demands.path("cpu").asDouble(0));
        declarer.setMemoryLoad(
            demands.path("onheap_mb").asDouble(0), demands.path("offheap_mb").asDouble(0));
        demands.properties().forEach(entry -> {
            if (!Set.of("cpu", "onheap_mb", "offheap_mb").contains(entry.getKey())) {
                declarer.addResource(entry.getKey(), entry.getValue().doubleValue());
            }
        });
    }

    private static void share(
        ComponentConfigurationDeclarer<?> declarer, String component, JsonNode topology) {
        for (JsonNode region : topology.path("shared_memory")) {
            for (JsonNode one : region.get("components")) {
                if (one.asText().equals(component)) {
                    SharedMemory shared = new SharedMemory(region.get("id").asText());
                    double mb = region.get("mb").doubleValue();
                    switch (region.get("kind").asText()) {
                        case "onheap" -> shared.set_on_heap(mb);
                        case "offheap_worker" -> shared.set_off_heap_worker(mb);
                        default -> shared.set_off_heap_node(mb);
                    }
                    declarer.addSharedMemory(shared);
                }
            }
        }
    }

    private static void subscribe(BoltDeclarer bolt, String id, JsonNode topology) {
        int index = 0;
        for (JsonNode stream : topology.path("streams")) {
            String name = "s" + index++;
            if (!stream.get("to").asText().equals(id)) {
                continue;
            }
            String source = stream.get("from").asText();
            switch (stream.path("grouping").asText("shuffle")) {
                case "shuffle" -> bolt.shuffleGrouping(source, name);
                case "local_or_shuffle" -> bolt.localOrShuffleGrouping(source, name);
                case "fields" -> bolt.fieldsGrouping(source, name, new Fields("value"));
                case "all" -> bolt.allGrouping(source, name);
                case "global" -> bolt.globalGrouping(source, name);
                case "none" -> bolt.noneGrouping(source, name);
                case "custom" -> bolt.partialKeyGrouping(source, name, new Fields("value"));
                default -> bolt.directGrouping(source, name);
            }
        }
    }

    private static void declareAll(Set<String> streams, OutputFieldsDeclarer declarer) {
        streams.forEach(stream -> declarer.declareStream(stream, new Fields("value")));
    }

    /** Emits nothing. */
    public static final class Spout extends BaseRichSpout {
        private static final long serialVersionUID = 1;
        private final HashSet<String> streams;

        /** A spout with the default stream, as Flux makes it. */
        public Spout() {
            this(Set.of(Utils.DEFAULT_STREAM_ID));
        }

        Spout(Set<String> streams) {
            this.streams = new HashSet<>(streams);
        }

        @Override
        public void open(Map<String, Object> conf, TopologyContext context, SpoutOutputCollector out) {
        }

        @Override
        public void nextTuple() {
            Utils.sleep(1000);
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declareAll(streams, declarer);
        }
    }

    /** Receives nothing. */
    public static final class Bolt extends BaseRichBolt {
        private static final long serialVersionUID = 1;
        private final HashSet<String> streams;

        /** A bolt with the default stream, as Flux makes it. */
        public Bolt() {
            this(Set.of(Utils.DEFAULT_STREAM_ID));
        }

        Bolt(Set<String> streams) {
            this.streams = new HashSet<>(streams);
        }

        @Override
        public void prepare(Map<String, Object> conf, TopologyContext context, OutputCollector out) {
        }

        @Override
        public void execute(Tuple tuple) {
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declareAll(streams, declarer);
        }
    }
}
