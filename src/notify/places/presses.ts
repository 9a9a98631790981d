import { type PlaceIncident, type Press, PRESSES } from '#modules/places/decide/place_content.ts';

/** A button, as the text that a vendor sends back with a press. */
export function pressData(press: Press, { id, nextStep }: Pick<PlaceIncident, 'id' | 'nextStep'>): string {
  return press === 'escalate' ? `escalate ${id} ${nextStep ?? 0}` : `${press} ${id}`;
}

/** Reads what `pressData` wrote; null for anything else. */
export function parsePressData(
  text: string,
): { readonly press: Press; readonly incidentId: string; readonly stepIndex: number | null } | null {
  const [name, incidentId = '', step] = text.split(' ');
  const press = PRESSES.find((candidate) => candidate === name);
  if (press === undefined || incidentId === '') return null;
  return { press, incidentId, stepIndex: step !== undefined && /^\d{1,9}$/.test(step) ? Number(step) : null };
}

/** A button pressed in a chat, as its vendor tells it. */
export interface VendorPress {
  readonly kind: 'press';
  /** Differs for each press. */
  readonly pressId: string;
  readonly press: Press;
  readonly incidentId: string;
  readonly stepIndex: number | null;
  readonly account: string;
  readonly name: string;
  /** Vendor's ids of the message with the button. */
  readonly message: Readonly<Record<string, string>>;
}

/** An answer that somebody wrote to the message of an incident. */
export interface VendorReply {
  readonly kind: 'reply';
  /** Differs for each reply: letters, digits, `-` and `_`. */
  readonly replyId: string;
  readonly account: string;
  readonly name: string;
  /** Vendor's ids of the message that is answered. */
  readonly message: Readonly<Record<string, string>>;
  /** Text that is not blank. */
  readonly text: string;
}

export interface VendorCommand {
  readonly kind: 'command';
  readonly text: string;
  readonly account: string;
  readonly name: string;
}
