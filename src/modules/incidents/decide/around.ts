export interface Around {
  readonly atMs: number;
  /** Whether it concerns the service of the incident. */
  readonly isOwn: boolean;
}

/**
 * Orders events by how likely they say what caused the incident: those of its own service first, there those up to the
 * trigger, and there the nearest in time.
 */
export function byNearness<Event extends Around>(events: readonly Event[], triggeredMs: number): Event[] {
  const rankOf = ({ atMs, isOwn }: Around) => (isOwn ? 0 : 2) + (atMs <= triggeredMs ? 0 : 1);
  const distanceOf = ({ atMs }: Around) => Math.abs(atMs - triggeredMs);
  return events.toSorted((a, b) => rankOf(a) - rankOf(b) || distanceOf(a) - distanceOf(b));
}

/** An incident that the first events of an exception may have opened. */
interface OpenedBy {
  readonly exceptionGroupId: string | null;
}

/** Joins new exceptions with the incident that each opened, so that one thing is told once; and returns the others. */
export function joinOpened<Group extends { readonly groupId: string }, Incident extends OpenedBy>(
  groups: readonly Group[],
  incidents: readonly Incident[],
): { readonly groups: (Group & { readonly opened: Incident | null })[]; readonly others: Incident[] } {
  const joined = groups.map((group) => ({
    ...group,
    opened: incidents.findLast(({ exceptionGroupId }) => exceptionGroupId === group.groupId) ?? null,
  }));
  const taken = new Set(joined.map(({ opened }) => opened));
  return { groups: joined, others: incidents.filter((incident) => !taken.has(incident)) };
}
