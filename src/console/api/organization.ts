import { actionQuery, type InputOf, type ResultOf, searchedQuery } from '#console/api/actions.ts';

export type Member = ResultOf<'list_members'>['members'][number];
export type Invited = ResultOf<'list_invitations'>['invitations'][number];
export type ApiKey = ResultOf<'list_api_keys'>['apiKeys'][number];
export type NewApiKey = ResultOf<'create_api_key'>;
/** App that acts on behalf of a person. */
export type Connection = ResultOf<'list_connections'>['connections'][number];
export type AuditEntry = ResultOf<'list_audit_log'>['entries'][number];
export type ChannelHealth = ResultOf<'get_delivery_health'>['channels'][number];
export type Channel = ChannelHealth['channel'];
export type Me = ResultOf<'get_me'>;
export type Contact = Me['teams'][number]['contact'];
export type PushDevice = Me['pushSubscriptions'][number];
export type TestNotification = ResultOf<'get_test_notification'>;
export type IngestStatus = ResultOf<'get_ingest_status'>;

/** Query of a page of members to choose from, or of the members with these ids. */
export const membersQuery = (orgId: string, input: Omit<InputOf<'list_members'>, 'cursor'>) =>
  actionQuery(orgId, 'settings', 'list_members', input);

export type SignInSettings = ResultOf<'get_sign_in_settings'>;
export type MemberSession = ResultOf<'list_organization_sessions'>['sessions'][number];

type Search = { readonly text?: string };

export const memberSearchQuery = (orgId: string, input: Pick<InputOf<'list_members'>, 'text' | 'role'>) =>
  searchedQuery(orgId, 'settings', 'list_members', input);
export const invitationsQuery = (orgId: string) =>
  searchedQuery(orgId, 'settings', 'list_invitations', { isAccepted: false });
export const apiKeySearchQuery = (orgId: string, input: Search) =>
  searchedQuery(orgId, 'settings', 'list_api_keys', input);
/** Query of the organization's keys that a person created. */
export const createdKeysQuery = (orgId: string, creatorId: string) =>
  actionQuery(orgId, 'settings', 'list_api_keys', { creatorId, limit: 200 });
export const connectionSearchQuery = (orgId: string, input: Search) =>
  searchedQuery(orgId, 'settings', 'list_connections', input);
export const agentSearchQuery = (orgId: string, input: Search) => searchedQuery(orgId, 'settings', 'get_agents', input);
export const signInSettingsQuery = (orgId: string) => actionQuery(orgId, 'settings', 'get_sign_in_settings', {});
export const organizationSessionsQuery = (orgId: string) =>
  searchedQuery(orgId, 'settings', 'list_organization_sessions', {});
export const billingQuery = (orgId: string) => actionQuery(orgId, 'settings', 'get_billing', {});
export const deliveryQuery = (orgId: string) => actionQuery(orgId, 'settings', 'get_delivery_health', {});
export const meQuery = (orgId: string) => actionQuery(orgId, 'me', 'get_me', {});
export const ingestStatusQuery = (orgId: string, serviceId: string) =>
  actionQuery(orgId, 'services', 'get_ingest_status', { serviceId });
