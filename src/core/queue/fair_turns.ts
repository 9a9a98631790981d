/** Work that waits, of one organization and service. */
export interface WaitingWork {
  readonly orgId: string;
  readonly serviceId: string;
  /** How much it is: points, or events. */
  readonly items: number;
}

/** What a process has under way at most. */
export interface Capacity {
  readonly items: number;
  /** Of one organization: the rest is there at once for whoever comes next. */
  readonly itemsOfOrg: number;
  readonly jobs: number;
}

/**
 * What to begin next, in that order. The organization that has the least under way comes first, and of its services
 * the one that has the least; between equals, the work that stands first in `waiting`. So whoever has little waits for
 * nobody who has much. What is one piece may be larger than the room for it.
 */
export function takeTurns<Work extends WaitingWork>(
  waiting: readonly Work[],
  underWay: readonly WaitingWork[],
  capacity: Capacity,
): Work[] {
  const orgs = new Loads();
  const services = new Loads();
  let items = 0;
  let jobs = underWay.length;
  const begin = (work: WaitingWork): void => {
    items += work.items;
    orgs.add(work.orgId, work.items);
    services.add(work.serviceId, work.items);
  };
  underWay.forEach(begin);
  const queues = new Map(
    [...Map.groupBy(waiting, ({ serviceId }) => serviceId)].map(([serviceId, own]) => [serviceId, own.toReversed()]),
  );
  const taken: Work[] = [];
  while (items < capacity.items && jobs < capacity.jobs) {
    let best: { readonly work: Work; readonly loads: readonly [number, number] } | null = null;
    for (const [serviceId, queue] of queues) {
      const work = queue.at(-1);
      if (work === undefined) continue;
      const loads = [orgs.of(work.orgId), services.of(serviceId)] as const;
      if (loads[0] >= capacity.itemsOfOrg) continue;
      if (best === null || loads[0] < best.loads[0] || (loads[0] === best.loads[0] && loads[1] < best.loads[1])) {
        best = { work, loads };
      }
    }
    if (best === null) break;
    queues.get(best.work.serviceId)?.pop();
    begin(best.work);
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
