/** Waiting work of one organization and service. */
export interface WaitingWork {
  readonly orgId: string;
  readonly serviceId: string;
  /** Number of items: points, or events. */
  readonly items: number;
  /** Size in bytes, if it counts. */
  readonly size?: number;
}

/** Limits on the work that a process does at the same time. */
export interface Capacity {
  readonly items: number;
  /** Limit on the items of one organization, so that room is left for the next one. */
  readonly itemsOfOrg: number;
  readonly jobs: number;
  /** Limit on the jobs of one organization: they may wait for something that only its own work needs. */
  readonly jobsOfOrg?: number;
  /** Bytes of an item; larger work counts as more items, as it takes more memory. */
  readonly bytesOfItem?: number;
}

/**
 * Returns the work to start next, in this order: the organization with the least running work comes first, and of its
 * services the one with the least; between equals, the work that is first in `waiting`. So a small sender never waits
 * for a large one. A single piece of work may be larger than the room that is left.
 */
export function scheduleFairly<Work extends WaitingWork>(
  waiting: readonly Work[],
  running: readonly WaitingWork[],
  capacity: Capacity,
): Work[] {
  const orgs = new Loads();
  const services = new Loads();
  const jobsOfOrgs = new Loads();
  let items = 0;
  let jobs = running.length;
  const start = (work: WaitingWork): void => {
    const weight = Math.max(work.items, (work.size ?? 0) / (capacity.bytesOfItem ?? Infinity));
    items += weight;
    orgs.add(work.orgId, weight);
    services.add(work.serviceId, weight);
    jobsOfOrgs.add(work.orgId, 1);
  };
  running.forEach(start);
  const queues = new Map(
    [...Map.groupBy(waiting, ({ serviceId }) => serviceId)].map(([serviceId, ofService]) => [
      serviceId,
      ofService.toReversed(),
    ]),
  );
  const taken: Work[] = [];
  while (items < capacity.items && jobs < capacity.jobs) {
    let best: { readonly work: Work; readonly loads: readonly [number, number] } | null = null;
    for (const [serviceId, queue] of queues) {
      const work = queue.at(-1);
      if (work === undefined) continue;
      const loads = [orgs.of(work.orgId), services.of(serviceId)] as const;
      if (loads[0] >= capacity.itemsOfOrg) continue;
      if (jobsOfOrgs.of(work.orgId) >= (capacity.jobsOfOrg ?? Infinity)) continue;
      if (best === null || loads[0] < best.loads[0] || (loads[0] === best.loads[0] && loads[1] < best.loads[1])) {
        best = { work, loads };
      }
    }
    if (best === null) break;
    queues.get(best.work.serviceId)?.pop();
    start(best.work);
    jobs += 1;
    taken.push(best.work);
  }
  return taken;
}

class Loads {
  readonly #loads = new Map<string, number>();

  add(name: string, items: number): void {
    this.#loads.set(name, this.of(name) + items);
  }

  of(name: string): number {
    return this.#loads.get(name) ?? 0;
  }
}
