/** Event around an incident. */
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
