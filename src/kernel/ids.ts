import { fromUUID, toUUID, type TypeId, typeid } from 'typeid-js';

/** The kinds of things that have an id, with what each is called. The kind is the prefix of the id. */
export const KIND_NOUNS = {
  org: 'an organization',
  user: 'a user of the organization',
  apikey: 'an API key',
  session: 'a session',
  invitation: 'an invitation',
  reset: 'a password reset',
  connection: 'a connected app',
  client: 'an OAuth client',
  service: 'a service',
  ingestkey: 'an ingestion key',
  period: 'a billing period',
  dashboard: 'a dashboard',
  alertkey: 'an alert key',
  alertsource: 'a source of alerts',
  alertroute: 'a route of alerts',
  alert: 'an alert of another tool',
  group: 'an exception group',
  activity: 'an entry in the history of an exception',
  search: 'a saved search',
  monitor: 'a cron monitor',
  deploy: 'a deploy',
  bundle: 'an upload of source maps',
  team: 'a team',
  member: 'a membership',
  schedule: 'a schedule',
  override: 'an override of a schedule',
  layer: 'a layer of a schedule',
  calendar: 'a calendar of holidays',
  policy: 'an escalation policy',
  rule: 'an alert rule',
  maintenance: 'a maintenance window',
  incident: 'an incident',
  note: 'a note on an incident',
  proposal: 'a proposal of an agent',
  notification: 'a notification',
  subscription: 'a push subscription',
  feed: 'a calendar feed',
  scimgroup: 'a group of the identity provider',
  tracker: 'an issue tracker',
  place: 'a place where incidents are announced',
  delivery: 'a delivery to a place',
  chataccount: 'a linked chat account',
  statuspage: 'a status page',
  publication: 'an incident as it was published on a status page',
  statusupdate: 'an update on a status page',
  statussubscriber: 'a subscriber of a status page',
  audit: 'an entry of the audit log',
  auditstream: 'a stream of the audit log',
  movein: 'a move from another tool',
  job: 'a job',
  req: 'a request',
} as const;

export type Kind = keyof typeof KIND_NOUNS;

declare const brand: unique symbol;

/** An id of one kind, so that a user's id cannot be passed where a team's is asked. */
export type Id<K extends Kind> = string & { readonly [brand]: K };

/** Creates a TypeID: the kind as prefix, then a UUIDv7 in base 32; ids of one kind sort by creation. */
export function newId<K extends Kind>(kind: K): Id<K> {
  return typeid(kind).toString() as string as Id<K>;
}

/** Returns the UUID inside an id, for stores that keep 16 bytes instead of text. */
export function uuidOf(id: Id<Kind>): string {
  return toUUID(id as unknown as TypeId<Kind>);
}

/** Returns the id of this kind with this UUID inside: the inverse of `uuidOf`. */
export function idOfUuid<K extends Kind>(kind: K, uuid: string): Id<K> {
  return fromUUID(uuid, kind).toString() as Id<K>;
}

/**
 * Takes a caller's string as an id of the kind without judging it: an id that names nothing is answered by the
 * store with `not_found`, so that a misspelt id and somebody else's are the same to the caller.
 */
export function asId<K extends Kind>(_kind: K, text: string): Id<K> {
  return text as Id<K>;
}

/**
 * Prefixes of the secrets of the product, so that logs, secret scanners and people know a leaked one by its form. A
 * kind that is not listed here cannot be made (`#auth/secret_text.ts`).
 */
export const SECRET_PREFIXES = {
  apiKey: 'tocsin_key',
  provisioning: 'tocsin_scm',
  ingestKey: 'tocsin_ing',
  calendar: 'tocsin_cal',
  session: 'tocsin_ses',
  pendingSignIn: 'tocsin_pen',
  device: 'tocsin_dev',
  signInAttempt: 'tocsin_att',
  reset: 'tocsin_rst',
  invitation: 'tocsin_inv',
  accessToken: 'tocsin_oat',
  refreshToken: 'tocsin_ort',
  authorizationCode: 'tocsin_oac',
  clientSecret: 'tocsin_ocs',
} as const;

export type SecretPrefix = (typeof SECRET_PREFIXES)[keyof typeof SECRET_PREFIXES];
