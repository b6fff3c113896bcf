package slotwise.stormcluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.storm.StormSubmitter;
import org.apache.storm.generated.KillOptions;
import org.apache.storm.utils.NimbusClient;
import org.apache.storm.utils.Utils;

/**
 * Asks the Nimbus that {@code storm.yaml} names for one thing, a line of JSON: {@code submit} (a
 * topology of an instance, whose components pass bytes on; {@code -Dstorm.jar} names the jar) or
 * {@code kill} (the name of a topology).
 */
public final class Remote {
    private Remote() {
    }

    /** Asks, and ends. */
    public static void main(String[] args) throws Exception {
        JsonNode request = new ObjectMapper().readTree(System.in);
        if (request.has("submit")) {
            JsonNode topology = request.get("submit");
            StormSubmitter.submitTopology(
                topology.get("id").asText(), Idle.conf(topology), Passing.topology(topology));
            return;
        }
        try (NimbusClient nimbus = NimbusClient.Builder.withConf(Utils.readStormConfig()).build()) {
            KillOptions now = new KillOptions();
            now.set_wait_secs(0);
            nimbus.getClient().killTopologyWithOpts(request.get("kill").asText(), now);
        }
    }
}
