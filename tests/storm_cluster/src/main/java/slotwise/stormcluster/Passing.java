package slotwise.stormcluster;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.apache.storm.generated.StormTopology;
import org.apache.storm.spout.SpoutOutputCollector;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.BoltDeclarer;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.TopologyBuilder;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.topology.base.BaseRichSpout;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;
import org.apache.storm.tuple.Values;

/** Topologies of an instance, joined by shuffles, that pass bytes on as fast as the window allows. */
final class Passing {
    private static final Fields FIELDS = new Fields("value");

    private Passing() {
    }

    static StormTopology topology(JsonNode data) {
        TopologyBuilder builder = new TopologyBuilder();
        Map<String, BoltDeclarer> bolts = new HashMap<>();
        for (JsonNode component : data.get("components")) {
            String id = component.get("id").asText();
            int parallelism = component.get("parallelism").intValue();
            if (component.get("kind").asText().equals("spout")) {
                Idle.declare(builder.setSpout(id, new Spout(), parallelism), component.get("resources"));
            } else {
                bolts.put(id, builder.setBolt(id, new Bolt(), parallelism));
                Idle.declare(bolts.get(id), component.get("resources"));
            }
        }
        for (JsonNode stream : data.get("streams")) {
            bolts.get(stream.get("to").asText()).shuffleGrouping(stream.get("from").asText());
        }
        return builder.createTopology();
    }

    /**
     * Emits {@code slotwise.tuple.bytes} at a time, and writes a line into a file of its own in the
     * folder {@code slotwise.counts} now and then: milliseconds since 1970, tuples acked so far, sum
     * of their complete latencies in microseconds, tuples failed.
     */
    public static final class Spout extends BaseRichSpout {
        private static final long serialVersionUID = 1;
        private static final long BETWEEN_LINES_MS = 200;
        private transient SpoutOutputCollector out;
        private transient PrintWriter counts;
        private transient byte[] value;
        private long acked;
        private long failed;
        private long micros;
        private long written;

        @Override
        public void open(Map<String, Object> conf, TopologyContext context, SpoutOutputCollector collector) {
            out = collector;
            value = new byte[((Number) conf.get("slotwise.tuple.bytes")).intValue()];
            String name = context.getThisComponentId() + "-" + context.getThisTaskId()
                + "-" + System.currentTimeMillis();
            Path file = Path.of((String) conf.get("slotwise.counts"), name);
            try {
                counts = new PrintWriter(new FileWriter(file.toFile(), StandardCharsets.UTF_8));
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }

        @Override
        public void nextTuple() {
            out.emit(new Values((Object) value), System.nanoTime());
        }

        @Override
        public void ack(Object emitted) {
            acked++;
            micros += (System.nanoTime() - (Long) emitted) / 1000;
            write();
        }

        @Override
        public void fail(Object emitted) {
            failed++;
            write();
        }

        private void write() {
            long now = System.currentTimeMillis();
            if (now - written >= BETWEEN_LINES_MS) {
                written = now;
                counts.println(now + " " + acked + " " + micros + " " + failed);
                counts.flush();
            }
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declarer.declare(FIELDS);
        }
    }

    /** Passes on what it receives. */
    public static final class Bolt extends BaseRichBolt {
        private static final long serialVersionUID = 1;
        private transient OutputCollector out;

        @Override
        public void prepare(Map<String, Object> conf, TopologyContext context, OutputCollector collector) {
            out = collector;
        }

        @Override
        public void execute(Tuple tuple) {
            out.emit(tuple, tuple.getValues());
            out.ack(tuple);
        }

        @Override
        public void declareOutputFields(OutputFieldsDeclarer declarer) {
            declarer.declare(FIELDS);
        }
    }
}
