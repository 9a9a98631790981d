import { issueProvisioningToken } from '#auth/api_keys.ts';
import { storesOf } from '#modules/stores.ts';
import type { Answer, World } from '#test/kit/world.ts';

export const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The identity provider of an organization, with its token. */
export interface IdentityProvider {
  readonly token: string;
  ask(method: Method, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  patch(path: string, operations: readonly unknown[]): Promise<Answer>;
  /** The id of a user who is made. */
  user(userName: string, more?: object): Promise<string>;
  group(displayName: string, members?: readonly string[]): Promise<string>;
}

export async function identityProvider(w: World): Promise<IdentityProvider> {
  const { token } = await w.context.db.transaction((session) =>
    issueProvisioningToken(storesOf(session), w.orgId, w.owner.userId, w.clock.now()),
  );
  const ask: IdentityProvider['ask'] = async (method, path, body, headers = {}) => {
    const response = await w.app.inject({
      method,
      url: `/scim/v2${path}`,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/scim+json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    });
    return {
      status: response.statusCode,
      headers: response.headers,
      body: response.body === '' ? null : response.json(),
    };
  };
  const make = async (path: string, body: object): Promise<string> => {
    const made = await ask('POST', path, body);
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return made.body.id as string;
  };
  return {
    token,
    ask,
    patch: (path, operations) => ask('PATCH', path, { schemas: [PATCH_SCHEMA], Operations: operations }),
    user: (userName, more = {}) =>
      make('/Users', { schemas: [USER_SCHEMA], userName, emails: [{ value: userName, primary: true }], ...more }),
    group: (displayName, members = []) =>
      make('/Groups', { schemas: [GROUP_SCHEMA], displayName, members: members.map((value) => ({ value })) }),
  };
}
