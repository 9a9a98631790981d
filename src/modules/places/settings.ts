import type { Cipher } from '#auth/cipher.ts';
import { type PlaceKind, type PlaceSettings, placeDeclarationOf } from '#modules/places/decide/place_kinds.ts';
import { keysOf } from '#kernel/records.ts';

export function sealSettings(cipher: Cipher, settings: PlaceSettings): Buffer {
  return cipher.encrypt(JSON.stringify(settings));
}

export function openSettings(cipher: Cipher, sealed: Buffer): PlaceSettings {
  return JSON.parse(cipher.decrypt(sealed)) as PlaceSettings;
}

/** Returns the settings that are no secrets; of an address, its host. */
export function shownSettings(kind: PlaceKind, settings: PlaceSettings): Readonly<Record<string, string>> {
  const { fields } = placeDeclarationOf(kind);
  const shown: Record<string, string> = {};
  for (const name of keysOf(fields)) {
    const value = settings[name];
    if (value === undefined) continue;
    if (fields[name]?.isSecret === false) shown[name] = value;
    else if (fields[name]?.check === 'address') shown['host'] = new URL(value).host;
  }
  return shown;
}
