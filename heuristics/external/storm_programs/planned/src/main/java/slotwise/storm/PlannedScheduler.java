package slotwise.storm;

import java.util.Map;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.IScheduler;
import org.apache.storm.scheduler.SingleTopologyCluster;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.resource.ResourceAwareScheduler;
import org.apache.storm.utils.ReflectionUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import slotwise.storm.Plan.Unusable;

/**
 * A scheduler that follows the plans of slotwise and leaves the rest to another.
 *
 * <p>Nimbus takes it by {@code storm.scheduler}; {@code slotwise.scheduler} names the other
 * (default: Storm's Resource Aware Scheduler). A plan is followed only as a whole.
 */
public final class PlannedScheduler implements IScheduler {
    private static final Logger LOG = LoggerFactory.getLogger(PlannedScheduler.class);
    private static final String WRAPPED = "slotwise.scheduler";
    private Map<String, Object> conf = Map.of();
    private IScheduler wrapped;

    @Override
    public void prepare(Map<String, Object> config, StormMetricsRegistry metrics) {
        conf = config;
        boolean named = config.get(WRAPPED) instanceof String name
            && !name.isEmpty() && !name.equals(PlannedScheduler.class.getName());
        wrapped = named
            ? ReflectionUtils.<IScheduler>newInstance((String) config.get(WRAPPED))
            : new ResourceAwareScheduler();
        wrapped.prepare(config, metrics);
    }

    @Override
    public void schedule(Topologies topologies, Cluster cluster) {
        Racks.write(conf, cluster);
        boolean shadow = Boolean.TRUE.equals(conf.get(Follower.SHADOW));
        for (TopologyDetails topology : topologies) {
            if (!shadow && cluster.needsSchedulingRas(topology)) {
                follow(cluster, topology);
            }
        }
        wrapped.schedule(topologies, cluster);
    }

    private void follow(Cluster cluster, TopologyDetails topology) {
        try {
            SingleTopologyCluster tried =
                new SingleTopologyCluster(new Cluster(cluster), topology.getId());
            int placed = Follower.follow(conf, tried, topology);
            cluster.updateFrom(tried);
            cluster.setStatus(topology.getId(), "Running - placed by the plan of slotwise");
            LOG.info("slotwise: topology {} follows its plan, {} executors placed",
                topology.getId(), placed);
        } catch (Unusable why) {
            LOG.warn("slotwise: topology {} is left to {}: {}",
                topology.getId(), wrapped.getClass().getSimpleName(), why.getMessage());
        }
    }

    @Override
    public Map config() {
        return wrapped.config();
    }

    @Override
    public void cleanup() {
        if (wrapped != null) {
            wrapped.cleanup();
        }
    }
}
