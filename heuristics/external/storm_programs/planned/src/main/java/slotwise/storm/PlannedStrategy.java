package slotwise.storm;

import java.util.Map;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.resource.SchedulingResult;
import org.apache.storm.scheduler.resource.strategies.scheduling.DefaultResourceAwareStrategy;
import org.apache.storm.scheduler.resource.strategies.scheduling.IStrategy;
import org.apache.storm.utils.ReflectionUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import slotwise.storm.Plan.Unusable;

/**
 * A strategy of Storm's Resource Aware Scheduler that follows a plan of slotwise.
 *
 * <p>A topology takes it by {@code topology.scheduler.strategy}. Where there is no plan that fits
 * as a whole, the strategy named by the topology's {@code slotwise.strategy} places it (default:
 * Storm's own), and one line in the log says why.
 */
public final class PlannedStrategy implements IStrategy {
    private static final Logger LOG = LoggerFactory.getLogger(PlannedStrategy.class);
    private static final String WRAPPED = "slotwise.strategy";
    private Map<String, Object> conf = Map.of();

    @Override
    public void prepare(Map<String, Object> config) {
        conf = config;
    }

    @Override
    public SchedulingResult schedule(Cluster cluster, TopologyDetails topology) {
        Racks.write(conf, cluster);
        boolean shadow = Boolean.TRUE.equals(conf.get(Follower.SHADOW));
        if (!shadow) {
            try {
                int placed = Follower.follow(conf, cluster, topology);
                LOG.info("slotwise: topology {} follows its plan, {} executors placed",
                    topology.getId(), placed);
                return SchedulingResult.success("placed by the plan of slotwise");
            } catch (Unusable why) {
                LOG.warn("slotwise: topology {} falls back to its own strategy: {}",
                    topology.getId(), why.getMessage());
            }
        }
        IStrategy wrapped = wrapped(topology);
        wrapped.prepare(conf);
        SchedulingResult result = wrapped.schedule(cluster, topology);
        if (shadow && result != null && result.isSuccess()) {
            try {
                LOG.info("slotwise: topology {} has {} executors on other nodes than planned",
                    topology.getId(), Follower.elsewhere(conf, cluster, topology));
            } catch (Unusable why) {
                LOG.info("slotwise: topology {} could not follow its plan: {}",
                    topology.getId(), why.getMessage());
            }
        }
        return result;
    }

    private IStrategy wrapped(TopologyDetails topology) {
        Object named = topology.getConf().get(WRAPPED);
        String own = PlannedStrategy.class.getName();
        if (named instanceof String name && !name.isEmpty() && !name.equals(own)) {
            return ReflectionUtils.newSchedulerStrategyInstance(name, conf);
        }
        return new DefaultResourceAwareStrategy();
    }
}
