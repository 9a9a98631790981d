import type { IncomingHttpHeaders } from 'node:http';

import type { PlaceSettings } from '#modules/places/decide/place_kinds.ts';
import type { PlaceRow } from '#modules/places/store/place_store.ts';

/** A request of a vendor, before anything in it is believed. */
export interface VendorRequest {
  readonly place: PlaceRow;
  readonly settings: PlaceSettings;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly origin: { readonly requestId: string; readonly address: string };
}

/** Answer to a vendor: its status, and its body if there is one. */
export interface VendorAnswer {
  readonly status: number;
  readonly body?: object;
}
