import { PATH_LENGTH_MAX } from '#ingest/protocols/sentry/values.ts';
import type { Frame } from '#modules/exceptions/decide/event.ts';
import { asList, asObject, asText, type JsonObject } from '#ingest/protocols/sentry/json.ts';

/** A library of compiled code, where its process had loaded it. */
export interface NativeImage {
  readonly address: bigint;
  /** Size of the image; null if the client does not send it. */
  readonly size: bigint | null;
  readonly file: string | null;
}

const IMAGES_MAX = 300;

/** The libraries that a client lists as `debug_meta`, by address. */
export function asImages(debugMeta: unknown): readonly NativeImage[] {
  return asList(asObject(debugMeta)?.['images'])
    .slice(0, IMAGES_MAX)
    .flatMap((entry): NativeImage[] => {
      const image = asObject(entry);
      const address = asAddress(image?.['image_addr']);
      if (image === null || address === null) return [];
      const file = asText(image['code_file'] ?? image['name'], PATH_LENGTH_MAX);
      return [{ address, size: asAddress(image['image_size']), file }];
    })
    .toSorted((a, b) => (a.address < b.address ? -1 : 1));
}

/** Returns the location of compiled code, for a frame that gives an address. */
export function asNativePlace(frame: JsonObject, images: readonly NativeImage[]): Pick<Frame, 'native'> {
  const at = asAddress(frame['instruction_addr']);
  const library = asText(frame['package'], PATH_LENGTH_MAX);
  if (at === null) return {};
  const image = images.findLast(({ address, size }) => address <= at && (size === null || at < address + size));
  const base = asAddress(frame['image_addr']) ?? image?.address ?? null;
  const offset = base !== null && base <= at ? `0x${(at - base).toString(16)}` : null;
  return { native: { package: library ?? image?.file ?? null, offset } };
}

/** Parses an address: `0x7f3a10`, or a number; null for anything else. */
function asAddress(value: unknown): bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null;
  return typeof value === 'string' && /^(?:0x[0-9a-fA-F]{1,16}|\d{1,19})$/.test(value) ? BigInt(value) : null;
}
