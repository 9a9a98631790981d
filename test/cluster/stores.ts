import type { TestProject } from 'vitest/node';

import { CLUSTER, startClusterStandIn } from '#test/kit/programs/cluster_stand_in.ts';
import { setUpWith } from '#test/kit/stores.ts';

/** The stores of all tests, with tables spread over a cluster. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  return await setUpWith(project, async (folder) => {
    const { url, stop } = await startClusterStandIn({ folder });
    return { clickhouseUrl: url, clickhouseCluster: CLUSTER, stop };
  });
}
