import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** Sends the lines of stdin, KEY and VALUE with a control character between, to a topic. */
public class Produce {
    public static void main(String[] arguments) throws Exception {
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", arguments[0], "acks", "all", "enable.idempotence", "true");
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var text = new StringSerializer();
        try (var producer = new KafkaProducer<>(settings, text, text)) {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                int end = line.indexOf('\u0001');
                producer.send(new ProducerRecord<>(
                    arguments[1], line.substring(0, end), line.substring(end + 1)));
            }
        }
    }
}
