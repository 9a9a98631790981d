/** Simulation in an address. Without a time it is now. */
export interface SimulatorSearch {
  readonly service?: string;
  readonly rule?: string;
  /** Number of the route of alerts, in place of a rule. */
  readonly alerts?: number;
  /** Policy alone, in place of a service. */
  readonly policy?: string;
  /** Time, RFC 3339 in UTC. */
  readonly at?: string;
}

export function readSimulatorSearch(search: Record<string, unknown>): SimulatorSearch {
  const { service, rule, alerts, policy, at } = search;
  return {
    ...(typeof service === 'string' && service !== '' && { service }),
    ...(typeof rule === 'string' && rule !== '' && { rule }),
    ...(typeof alerts === 'number' && Number.isInteger(alerts) && alerts > 0 && { alerts }),
    ...(typeof policy === 'string' && policy !== '' && { policy }),
    ...(typeof at === 'string' && !Number.isNaN(Date.parse(at)) && { at: new Date(at).toISOString() }),
  };
}

/** Converts to the value of an input of the type `datetime-local`, in the time zone of the viewer. */
export function toLocalInput(at: number): string {
  const shown = new Date(at);
  const two = (value: number) => String(value).padStart(2, '0');
  const year = String(shown.getFullYear()).padStart(4, '0');
  return `${year}-${two(shown.getMonth() + 1)}-${two(shown.getDate())}T${two(shown.getHours())}:${two(shown.getMinutes())}`;
}

/** Converts the value of the input to a time in UTC; null while the input is incomplete. */
export function fromLocalInput(text: string): string | null {
  const at = new Date(text);
  return text === '' || Number.isNaN(at.getTime()) ? null : at.toISOString();
}

/** Returns the next time that the clock of the viewer shows three at night. */
export function nextNight(now: number): string {
  const night = new Date(now);
  night.setHours(3, 0, 0, 0);
  if (night.getTime() <= now) night.setDate(night.getDate() + 1);
  return night.toISOString();
}

/** Shifts a time by the viewer's clock: a day later is the same time of day, also when the clocks change in between. */
export function shifted(at: string, by: { readonly hours?: number; readonly days?: number }): string {
  const moved = new Date(at);
  if (by.days !== undefined) moved.setDate(moved.getDate() + by.days);
  if (by.hours !== undefined) moved.setTime(moved.getTime() + by.hours * 3_600_000);
  return moved.toISOString();
}
