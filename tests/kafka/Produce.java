import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Sends the lines of stdin, KEY and VALUE with a control character between, to a topic; at a rate, or
 * as fast as the broker takes them.
 */
public class Produce {
    public static void main(String[] arguments) throws Exception {
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", arguments[0], "acks", "all", "enable.idempotence", "true");
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var text = new StringSerializer();
        double rate = arguments.length > 2 ? Double.parseDouble(arguments[2]) : Double.POSITIVE_INFINITY;
        long began = System.nanoTime();
        long sent = 0;
        try (var producer = new KafkaProducer<>(settings, text, text)) {
            producer.partitionsFor(arguments[1]);  // makes the topic, also where there is no line
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                LockSupport.parkNanos(began + (long) (1e9 * sent++ / rate) - System.nanoTime());
                int end = line.indexOf('\u0001');
                producer.send(new ProducerRecord<>(
                    arguments[1], line.substring(0, end), line.substring(end + 1)));
            }
        }
    }
}
