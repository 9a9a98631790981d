import { type Via, viaTexts } from '#modules/accounts/decide/caller.ts';

/** The person, key or system that acknowledged or resolved an incident: an `IncidentActor`, or a view of it. */
interface ActorFields {
  readonly userId?: string;
  readonly apiKeyId?: string;
  readonly apiKeyName?: string;
  readonly clientName?: string;
  /** Reason for which the product itself did it. */
  readonly because?: string;
  /** The tool whose alert said so. */
  readonly tool?: string;
  readonly via: Via;
  /** Set for an answer on the page that the link of an SMS opens. */
  readonly byLink?: true;
}

type NameOf = (userId: string) => string;

/** Returns the person by name, with the app or key that they used; or the key of the organization. */
export function actorName(by: ActorFields, nameOf: NameOf): string {
  if (by.userId !== undefined) {
    const name = nameOf(by.userId);
    if (by.clientName !== undefined) return `${name} through ${quoted(by.clientName)}`;
    return by.apiKeyName === undefined ? name : `${name} with the API key ${quoted(by.apiKeyName)}`;
  }
  if (by.apiKeyId !== undefined)
    return by.apiKeyName === undefined ? 'an API key' : `the API key ${quoted(by.apiKeyName)}`;
  if (by.because === 'no_word') return `Tocsin itself, as ${by.tool ?? 'its tool'} says nothing more`;
  if (by.because === 'shadow_ended') return 'Tocsin itself, as shadow mode has ended';
  if (by.tool !== undefined) return by.tool;
  return by.because === 'no_data' ? 'Tocsin itself, as no data arrives' : 'Tocsin itself, as its cause is gone';
}

/** Returns the name and the way: `Anna by SMS`, `Anna by the link of an SMS`, `the API key "deploy bot" (MCP)`. */
export function actorText(by: ActorFields, nameOf: NameOf): string {
  const name = actorName(by, nameOf);
  if (by.userId === undefined && by.apiKeyId === undefined) return name;
  if (by.apiKeyName !== undefined || by.clientName !== undefined) return by.via === 'mcp' ? `${name} (MCP)` : name;
  return `${name} by ${by.byLink === true ? 'the link of an SMS' : viaTexts(by.via).by}`;
}

function quoted(name: string): string {
  return `"${name}"`;
}
