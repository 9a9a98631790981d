import { hash } from 'node:crypto';

import { GROUP_SCHEMA } from '#modules/provisioning/decide/scim_group.ts';
import { USER_SCHEMA } from '#modules/provisioning/decide/scim_user.ts';
import type { ProvisionedUser } from '#modules/provisioning/store/provisioning_store.ts';
import type { GroupMember, ScimGroupRow } from '#modules/provisioning/store/scim_group_store.ts';
import { API_PATHS } from '#kernel/api_paths.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';

export interface Resource extends Readonly<Record<string, unknown>> {
  readonly schemas: readonly string[];
  readonly id: string;
  readonly meta: { readonly version: string; readonly location: string };
}

export function toUserResource(
  user: ProvisionedUser,
  groups: readonly { readonly id: string; readonly displayName: string }[],
  baseUrl: string,
): Resource {
  const { userId, userName, externalId, email, name, profile, role, createdAt, updatedAt } = user;
  // A member whom the identity provider has not named has the name of the account.
  const { displayName, ...parts } = profile ?? { displayName: name, formatted: name };
  const names = Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== null));
  const body = {
    schemas: [USER_SCHEMA],
    id: userId,
    ...(externalId !== null && { externalId }),
    userName,
    ...(Object.keys(names).length > 0 && { name: names }),
    ...(displayName !== null && { displayName }),
    emails: [{ value: email, type: 'work', primary: true }],
    active: role !== null,
    ...(role !== null && { roles: [{ value: role, primary: true }] }),
  };
  const version = `W/"${hash('sha256', JSON.stringify(body), 'base64url').slice(0, 22)}"`;
  const ofGroups = groups.map((group) => {
    return { value: group.id, $ref: locationOf('Group', group.id, baseUrl), display: group.displayName };
  });
  return { ...body, groups: ofGroups, meta: metaOf('User', userId, { createdAt, updatedAt, version }, baseUrl) };
}

/** Builds a group; without members where they are not asked for. */
export function toGroupResource(
  { id, displayName, externalId, version, createdAt, updatedAt }: ScimGroupRow,
  members: readonly GroupMember[] | null,
  baseUrl: string,
): Resource {
  return {
    schemas: [GROUP_SCHEMA],
    id,
    ...(externalId !== null && { externalId }),
    displayName,
    ...(members !== null && {
      members: members.map((member) => {
        return { value: member.userId, $ref: locationOf('User', member.userId, baseUrl), display: member.name };
      }),
    }),
    meta: metaOf('Group', id, { createdAt, updatedAt, version: `W/"${version}"` }, baseUrl),
  };
}

interface Stamps {
  readonly createdAt: Temporal.Instant;
  readonly updatedAt: Temporal.Instant;
  readonly version: string;
}

function metaOf(
  resourceType: 'User' | 'Group',
  id: string,
  { createdAt, updatedAt, version }: Stamps,
  baseUrl: string,
) {
  return {
    resourceType,
    created: toTimestamp(createdAt),
    lastModified: toTimestamp(updatedAt),
    location: locationOf(resourceType, id, baseUrl),
    version,
  };
}

function locationOf(resourceType: 'User' | 'Group', id: string, baseUrl: string): string {
  return `${baseUrl}${API_PATHS.scim}/${resourceType}s/${id}`;
}
