import type { IncomingHttpHeaders } from 'node:http';

import type { ActionRuntime } from '#actions/run_action.ts';
import type { Provisioner } from '#auth/api_keys.ts';
import { PAGE_MAX } from '#modules/provisioning/decide/discovery.ts';
import { isReturned, project, type Projection, readProjection } from '#modules/provisioning/decide/projection.ts';
import { PreconditionFailed, ScimError } from '#modules/provisioning/decide/scim_values.ts';
import { type Filter, parseFilter } from '#modules/provisioning/decide/scim_filter.ts';
import type { Sorting } from '#modules/provisioning/store/filter_condition.ts';
import { readGroup, readGroupPatch } from '#modules/provisioning/decide/scim_group.ts';
import { patchUser, readUser, type UserState } from '#modules/provisioning/decide/scim_user.ts';
import { createGroup, deleteGroup, MEMBERS_MAX, updateGroup } from '#modules/provisioning/groups.ts';
import { ProvisioningChanges, type ProvisioningUnit, Room } from '#modules/provisioning/provisioning_unit.ts';
import { type Resource, toGroupResource, toUserResource } from '#modules/provisioning/resources.ts';
import type { FoundUser } from '#modules/provisioning/store/provisioning_store.ts';
import type { ListedGroup, ScimGroupRow } from '#modules/provisioning/store/scim_group_store.ts';
import { createUser, deleteUser, stateOf, updateUser, USERS_MAX } from '#modules/provisioning/users.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { type Stores, storesOf } from '#modules/stores.ts';

const PAGE_DEFAULT = 100;
const INDEX_MAX = 1_000_000;
/** Limit on the members in the answer to one list of groups. */
const MEMBERS_LISTED_MAX = 20_000;

/** Answer to a request; a body of null is none. */
export interface Answer {
  readonly status?: number;
  readonly body: object | null;
  readonly version?: string;
  readonly location?: string;
}

/** A request of an identity provider. */
export interface ScimCall {
  readonly provisioner: Provisioner;
  readonly body: unknown;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
  readonly origin: RequestOrigin;
}

/**
 * Returns a search by POST (RFC 7644, 3.4.3) as the query that says the same, for providers that keep filters out of
 * addresses. Throws `invalid_input` for a body that is no object.
 */
export function searchOf(call: ScimCall): ScimCall {
  const { body } = call;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new AppError('invalid_input', 'the body must be a SearchRequest');
  }
  const query = Object.entries(body).map(([name, value]: [string, unknown]) => [name, textOf(value)]);
  return { ...call, query: Object.fromEntries(query) as ScimCall['query'] };
}

function textOf(value: unknown): unknown {
  if (typeof value === 'number') return String(value);
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string').join(',') : value;
}

/** Answers the requests for users and groups. Each change is one transaction, in the name of the token. */
export class ScimRequests {
  readonly #runtime: ActionRuntime;
  readonly #baseUrl: string;
  readonly #changes: ProvisioningChanges;

  constructor(runtime: ActionRuntime, baseUrl: string) {
    this.#runtime = runtime;
    this.#baseUrl = baseUrl;
    this.#changes = new ProvisioningChanges(runtime, {
      users: new Room(USERS_MAX),
      groupMembers: new Room(MEMBERS_MAX),
    });
  }

  async listUsers({ provisioner: { orgId }, query }: ScimCall): Promise<Answer> {
    const asked = readQuery(query);
    const totalResults = await this.#stores().provisioning.count(orgId, asked.filter);
    return { body: toList(await this.#usersOf(orgId, asked), { ...asked, totalResults }) };
  }

  async getUser(call: ScimCall, id: string): Promise<Answer> {
    const stores = this.#stores();
    return ifChanged(call, this.#userAnswer(call, await findUser(stores, call.provisioner.orgId, id)));
  }

  async createUser(call: ScimCall): Promise<Answer> {
    const state = readUser(call.body);
    return await this.#change(call, async (provisioning) => {
      const user = await createUser(provisioning, state);
      return { ...this.#userAnswer(call, { ...user, groups: [] }), status: 201 };
    });
  }

  async replaceUser(call: ScimCall, id: string): Promise<Answer> {
    const { saysActive, ...state } = readUser(call.body);
    return await this.#updateUser(call, id, ({ isActive }) => ({ ...state, ...(!saysActive && { isActive }) }));
  }

  async patchUser(call: ScimCall, id: string): Promise<Answer> {
    return await this.#updateUser(call, id, (state) => patchUser(state, call.body));
  }

  async deleteUser(call: ScimCall, id: string): Promise<Answer> {
    return await this.#change(call, async (provisioning) => {
      const user = await findUser(provisioning.unit.stores, provisioning.orgId, id);
      requireVersion(call, toUserResource(user, [], this.#baseUrl));
      await deleteUser(provisioning, user);
      return { status: 204, body: null };
    });
  }

  async listGroups({ provisioner: { orgId }, query }: ScimCall): Promise<Answer> {
    const asked = readQuery(query);
    const totalResults = await this.#stores().scimGroups.count(orgId, asked.filter);
    return { body: toList(await this.#groupsOf(orgId, asked), { ...asked, totalResults }) };
  }

  /**
   * Lists people and then groups, each in the order that is asked for (RFC 7644, 3.4.2.1). A filter by an attribute that
   * only one of the two has finds nothing of the other.
   */
  async listAll({ provisioner: { orgId }, query }: ScimCall): Promise<Answer> {
    const asked = readQuery(query);
    const { filter, startIndex, count } = asked;
    const { provisioning, scimGroups } = this.#stores();
    const users = await countMatches(() => provisioning.count(orgId, filter));
    const groups = await countMatches(() => scimGroups.count(orgId, filter));
    if (users.refusal !== null && groups.refusal !== null) throw users.refusal;
    const ofUsers = users.count === 0 ? [] : await this.#usersOf(orgId, asked);
    const rest = { startIndex: Math.max(1, startIndex - users.count), count: count - ofUsers.length };
    const ofGroups = groups.count === 0 ? [] : await this.#groupsOf(orgId, { ...asked, ...rest });
    const totalResults = users.count + groups.count;
    return { body: toList([...ofUsers, ...ofGroups], { ...asked, totalResults }) };
  }

  async #usersOf(orgId: Id<'org'>, { filter, sorting, startIndex, count, projection }: Query): Promise<Resource[]> {
    const { provisioning, scimGroups } = this.#stores();
    const users = await provisioning.list(orgId, filter, { sorting, offset: startIndex - 1, limit: count });
    const userIds = isReturned('groups', projection) ? users.map(({ userId }) => userId) : [];
    const groups = Map.groupBy(await scimGroups.listOfUsers(orgId, userIds), ({ userId }) => userId);
    return users.map((user) => toUserResource(user, groups.get(user.userId) ?? [], this.#baseUrl));
  }

  async #groupsOf(orgId: Id<'org'>, { filter, sorting, startIndex, count, projection }: Query): Promise<Resource[]> {
    const { scimGroups } = this.#stores();
    const listed = await scimGroups.list(orgId, filter, { sorting, offset: startIndex - 1, limit: count });
    const hasMembers = isReturned('members', projection);
    const groups = hasMembers ? withinMembers(listed) : listed;
    const ids = hasMembers ? groups.map(({ id }) => id) : [];
    const members = Map.groupBy(await scimGroups.listMembers(orgId, ids), ({ groupId }) => groupId);
    return groups.map((group) =>
      toGroupResource(group, hasMembers ? (members.get(group.id) ?? []) : null, this.#baseUrl),
    );
  }

  async getGroup(call: ScimCall, id: string): Promise<Answer> {
    const stores = this.#stores();
    const group = await stores.scimGroups.find(call.provisioner.orgId, id);
    if (group === null) throw noGroup(id);
    return ifChanged(call, await this.#groupAnswer(stores, call, group));
  }

  async createGroup(call: ScimCall): Promise<Answer> {
    const body = readGroup(call.body);
    return await this.#change(call, async (provisioning) => {
      const group = await createGroup(provisioning, body);
      return { ...(await this.#groupAnswer(provisioning.unit.stores, call, group)), status: 201 };
    });
  }

  async replaceGroup(call: ScimCall, id: string): Promise<Answer> {
    const { members, ...texts } = readGroup(call.body);
    const patch = { ...texts, replaced: new Set(members), added: new Set<string>(), removed: new Set<string>() };
    return await this.#changeGroup(call, id, async (provisioning, group) => {
      await updateGroup(provisioning, group, patch);
      const { stores } = provisioning.unit;
      return await this.#groupAnswer(stores, call, (await stores.scimGroups.find(group.orgId, id)) ?? group);
    });
  }

  /** Answers without a body: a group may have very many members. */
  async patchGroup(call: ScimCall, id: string): Promise<Answer> {
    const patch = readGroupPatch(call.body);
    return await this.#changeGroup(call, id, async (provisioning, group) => {
      await updateGroup(provisioning, group, patch);
      return { status: 204, body: null };
    });
  }

  async deleteGroup(call: ScimCall, id: string): Promise<Answer> {
    return await this.#changeGroup(call, id, async (provisioning, group) => {
      await deleteGroup(provisioning, group);
      return { status: 204, body: null };
    });
  }

  async #updateUser(call: ScimCall, id: string, next: (state: UserState) => UserState): Promise<Answer> {
    return await this.#change(call, async (provisioning) => {
      const user = await findUser(provisioning.unit.stores, provisioning.orgId, id);
      requireVersion(call, toUserResource(user, [], this.#baseUrl));
      return this.#userAnswer(call, await updateUser(provisioning, user, next(stateOf(user))));
    });
  }

  async #changeGroup(
    call: ScimCall,
    id: string,
    work: (provisioning: ProvisioningUnit, group: ScimGroupRow) => Promise<Answer>,
  ): Promise<Answer> {
    return await this.#change(call, async (provisioning) => {
      const group = await provisioning.unit.stores.scimGroups.lock(provisioning.orgId, id);
      if (group === null) throw noGroup(id);
      requireVersion(call, toGroupResource(group, null, this.#baseUrl));
      return await work(provisioning, group);
    });
  }

  async #change<Result>(
    { provisioner: { orgId, apiKeyId, name }, origin }: ScimCall,
    work: (provisioning: ProvisioningUnit) => Promise<Result>,
  ): Promise<Result> {
    const actor = { kind: 'api_key', apiKeyId, apiKeyName: name } as const;
    return await this.#changes.make(orgId, { actor, via: 'scim', origin }, work);
  }

  #userAnswer({ query }: ScimCall, user: FoundUser): Answer {
    return toAnswer(toUserResource(user, user.groups, this.#baseUrl), readQuery(query).projection);
  }

  async #groupAnswer(stores: Stores, { query }: ScimCall, group: ScimGroupRow): Promise<Answer> {
    const { projection } = readQuery(query);
    const hasMembers = isReturned('members', projection);
    const members = hasMembers ? await stores.scimGroups.listMembers(group.orgId, [group.id]) : null;
    return toAnswer(toGroupResource(group, members, this.#baseUrl), projection);
  }

  #stores(): Stores {
    return storesOf(this.#runtime.db.session());
  }
}

async function findUser({ provisioning }: Stores, orgId: Id<'org'>, id: string): Promise<FoundUser> {
  const user = await provisioning.find(orgId, id);
  if (user === null) throw new AppError('not_found', `the organization has no user with the id ${id}`);
  return user;
}

function noGroup(id: string): AppError {
  return new AppError('not_found', `the organization has no group with the id ${id}`);
}

/** Returns the groups from the first on whose members fit into one answer, at least one. */
function withinMembers(groups: readonly ListedGroup[]): readonly ListedGroup[] {
  let members = 0;
  const end = groups.findIndex(({ memberCount }, index) => {
    members += memberCount;
    return index > 0 && members > MEMBERS_LISTED_MAX;
  });
  return end === -1 ? groups : groups.slice(0, end);
}

function toAnswer(resource: Resource, projection: Projection): Answer {
  const { version, location } = resource.meta;
  return { body: project(resource, projection), version, location };
}

function ifChanged({ headers }: ScimCall, answer: Answer): Answer {
  const tags = tagsOf(headers['if-none-match']);
  return answer.version !== undefined && tags.includes(answer.version)
    ? { ...answer, status: 304, body: null }
    : answer;
}

/** Throws if the request names other versions than the present one. */
function requireVersion({ headers }: ScimCall, { meta }: Resource): void {
  const wanted = tagsOf(headers['if-match']);
  if (wanted.length > 0 && !wanted.includes(meta.version) && !wanted.includes('*')) throw new PreconditionFailed();
}

function tagsOf(header: string | undefined): string[] {
  return header === undefined ? [] : header.split(',').map((tag) => tag.trim());
}

/** Counts what a filter finds; `refusal` if the resources do not have its attributes. */
async function countMatches(count: () => Promise<number>): Promise<{ count: number; refusal: ScimError | null }> {
  try {
    return { count: await count(), refusal: null };
  } catch (error) {
    if (error instanceof ScimError) return { count: 0, refusal: error };
    throw error;
  }
}

interface Query {
  readonly filter: Filter | null;
  readonly sorting: Sorting | null;
  /** Counts from 1. */
  readonly startIndex: number;
  readonly count: number;
  readonly projection: Projection;
}

function readQuery({
  filter,
  sortBy,
  sortOrder,
  startIndex,
  count,
  attributes,
  excludedAttributes,
}: ScimCall['query']): Query {
  return {
    sorting: isText(sortBy) ? { by: sortBy, isDescending: sortOrder === 'descending' } : null,
    filter: isText(filter) ? parseFilter(filter) : null,
    startIndex: Math.min(INDEX_MAX, Math.max(1, readInteger(startIndex) ?? 1)),
    count: Math.min(PAGE_MAX, Math.max(0, readInteger(count) ?? PAGE_DEFAULT)),
    projection: readProjection(attributes, excludedAttributes),
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function readInteger(value: unknown): number | null {
  return typeof value === 'string' && /^-?\d{1,9}$/.test(value) ? Number(value) : null;
}

function toList(
  resources: readonly Resource[],
  { totalResults, startIndex, projection }: Pick<Query, 'startIndex' | 'projection'> & { totalResults: number },
): object {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources.map((resource) => project(resource, projection)),
  };
}
