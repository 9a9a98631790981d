import type { Static } from 'typebox';

import type { AuditEntryView } from '#actions/audit/audit_log.ts';
import type { DeliveryHealthView } from '#actions/delivery/delivery_health.ts';
import type { ApiKeyView, NewApiKeyView } from '#actions/keys/api_keys.ts';
import type { ContactView, OwnTeamView } from '#actions/me/own_contacts.ts';
import type { SubscriptionView } from '#actions/me/push_subscriptions.ts';
import type { TestNotificationView } from '#actions/me/test_notifications.ts';
import type { InvitationView, NewInvitationView } from '#actions/people/invitations.ts';
import type { OrganizationMemberView } from '#actions/people/members.ts';
import type { IngestStatusView } from '#actions/services/ingest_status.ts';
import { ask } from '#console/api/http.ts';
import { actionQuery, orgQuery } from '#console/api/queries.ts';

export type Member = Static<typeof OrganizationMemberView>;
export type Invited = Static<typeof InvitationView>;
export type NewlyInvited = Static<typeof NewInvitationView>;
export type ApiKey = Static<typeof ApiKeyView>;
export type NewApiKey = Static<typeof NewApiKeyView>;
export type AuditEntry = Static<typeof AuditEntryView>;
export type ChannelHealth = Static<typeof DeliveryHealthView>['channels'][number];
export type Channel = ChannelHealth['channel'];
export type Contact = Static<typeof ContactView>;
export type PushDevice = Static<typeof SubscriptionView>;
export type TestNotification = Static<typeof TestNotificationView>;

/** An app that acts in the name of somebody. */
export interface Connection {
  readonly connectionId: string;
  readonly clientName: string;
  readonly clientUri: string | null;
  readonly user: { readonly userId: string; readonly name: string };
  readonly access: 'read_only' | 'changes';
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

export type IngestStatus = Static<typeof IngestStatusView>;

export interface Me {
  readonly teams: readonly Static<typeof OwnTeamView>[];
  readonly pushSubscriptions: readonly PushDevice[];
  readonly vapidPublicKey: string;
  readonly channels: readonly { readonly channel: Channel; readonly configured: boolean }[];
  readonly confirmedPhones: readonly string[];
  readonly hasReplyPin: boolean;
}

export const membersQuery = (orgId: string) => orgQuery<{ members: Member[] }>(orgId, 'settings', 'members');
export const invitationsQuery = (orgId: string) =>
  orgQuery<{ invitations: Invited[] }>(orgId, 'settings', 'invitations');
export const apiKeysQuery = (orgId: string) => orgQuery<{ apiKeys: ApiKey[] }>(orgId, 'settings', 'api-keys');
export const connectionsQuery = (orgId: string) =>
  orgQuery<{ connections: Connection[] }>(orgId, 'settings', 'connections');
export const billingQuery = (orgId: string) => actionQuery(orgId, 'settings', 'get_billing', {});
export const deliveryQuery = (orgId: string) =>
  orgQuery<{ channels: ChannelHealth[] }>(orgId, 'settings', 'delivery-health');
export const meQuery = (orgId: string) => orgQuery<Me>(orgId, 'me', 'me');
export const ingestStatusQuery = (orgId: string, serviceId: string) =>
  orgQuery<IngestStatus>(orgId, 'services', `services/${serviceId}/ingest-status`);

/** Changes something below `/api/console/organizations/:org`. */
export async function change<Result>(
  orgId: string,
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<Result> {
  return await ask(`organizations/${orgId}/${path}`, { method, body });
}
