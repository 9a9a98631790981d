import type { PlaceOutcome } from '#modules/places/decide/delivery.ts';
import type { MessageReference, PlaceContent } from '#modules/places/decide/place_content.ts';
import type { PlaceSettings } from '#modules/places/decide/place_kinds.ts';
import type { PlaceHttp } from '#notify/places/exchange.ts';
import type { PlaceBases } from '#notify/places/settings.ts';

/** One message to a place. */
export interface PlaceMessage {
  readonly content: PlaceContent;
  readonly settings: PlaceSettings;
  /** The message of this incident that is there already; null for none. */
  readonly reference: MessageReference | null;
  /** Id of the delivery, the same for each attempt. */
  readonly deliveryId: string;
  /** Ascends with the events of an incident. */
  readonly sequence: number;
  /** Body of an earlier attempt; null before the first. */
  readonly earlierBody: string | null;
  /** Time of this attempt. */
  readonly nowMs: number;
}

/** A way to announce incidents. Senders keep no state and retry nothing. */
export interface PlaceSender {
  send(message: PlaceMessage): Promise<PlaceOutcome>;
}

/** Dependencies of senders. */
export interface PlaceSenderContext {
  readonly http: PlaceHttp;
  /** Address of the API of each vendor. */
  readonly bases: PlaceBases;
}
