package slotwise.stormcluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * A Storm cluster in one process, told what to do by lines of JSON.
 *
 * <p>The first line describes the cluster: {@code nodes} as in a slotwise instance, {@code conf} of
 * Storm. The answer has the port of its Nimbus. Then each line is one of {@code submit} (a topology
 * of an instance), {@code flux} (the path of a Flux file), {@code add} (a node) and {@code end} (the id of a
 * supervisor). Each is answered by a line.
 */
public final class Main {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Main() {
    }

    /** Runs until its input ends. */
    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (StormCluster cluster = new StormCluster(JSON.readTree(lines.readLine()))) {
            answers.println(JSON.writeValueAsString(Map.of("port", cluster.port())));
            answers.flush();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                answers.println(JSON.writeValueAsString(answer(cluster, JSON.readTree(line))));
                answers.flush();
            }
        }
        System.exit(0);
    }

    private static Map<String, Object> answer(StormCluster cluster, JsonNode request) {
        try {
            if (request.has("submit")) {
                cluster.submit(request.get("submit"));
            } else if (request.has("flux")) {
                cluster.submitFlux(request.get("flux").asText());
            } else if (request.has("add")) {
                cluster.addSupervisor(request.get("add"));
            } else if (request.has("end")) {
                cluster.endSupervisor(request.get("end").asText());
            } else {
                return Map.of("error", "unknown request " + request);
            }
            return Map.of("done", true);
        } catch (Exception failed) {
            return Map.of("error", failed.toString());
        }
    }
}
