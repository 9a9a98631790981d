import type { ResultOf } from '#console/api/actions.ts';
import { actionQuery } from '#console/api/queries.ts';

export type Member = ResultOf<'list_members'>['members'][number];
export type Invited = ResultOf<'list_invitations'>['invitations'][number];
export type ApiKey = ResultOf<'list_api_keys'>['apiKeys'][number];
export type NewApiKey = ResultOf<'create_api_key'>;
/** An app that acts in the name of somebody. */
export type Connection = ResultOf<'list_connections'>['connections'][number];
export type AuditEntry = ResultOf<'list_audit_log'>['entries'][number];
export type ChannelHealth = ResultOf<'get_delivery_health'>['channels'][number];
export type Channel = ChannelHealth['channel'];
export type Me = ResultOf<'get_me'>;
export type Contact = Me['teams'][number]['contact'];
export type PushDevice = Me['pushSubscriptions'][number];
export type TestNotification = ResultOf<'get_test_notification'>;
export type IngestStatus = ResultOf<'get_ingest_status'>;

export const membersQuery = (orgId: string) => actionQuery(orgId, 'settings', 'list_members', {});
export const invitationsQuery = (orgId: string) => actionQuery(orgId, 'settings', 'list_invitations', {});
export const apiKeysQuery = (orgId: string) => actionQuery(orgId, 'settings', 'list_api_keys', {});
export const connectionsQuery = (orgId: string) => actionQuery(orgId, 'settings', 'list_connections', {});
export const billingQuery = (orgId: string) => actionQuery(orgId, 'settings', 'get_billing', {});
export const deliveryQuery = (orgId: string) => actionQuery(orgId, 'settings', 'get_delivery_health', {});
export const meQuery = (orgId: string) => actionQuery(orgId, 'me', 'get_me', {});
export const ingestStatusQuery = (orgId: string, serviceId: string) =>
  actionQuery(orgId, 'services', 'get_ingest_status', { serviceId });
