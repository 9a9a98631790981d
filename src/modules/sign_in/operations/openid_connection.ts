import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { ProviderSignInError } from '#modules/sign_in/decide/sign_in_fault.ts';
import { requireOwner } from '#modules/sign_in/require_owner.ts';
import {
  auditedConnection,
  CONNECTION_FIELDS,
  readSignInSettings,
  SignInSettingsView,
} from '#modules/sign_in/sign_in_view.ts';

export const setOpenidConnection = defineOperation({
  name: 'set_openid_connection',
  stepUp: true,
  summary:
    'Connect the OpenID Connect provider of the organization, or change the connection. The provider is asked for its discovery document first. Only owners may.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({
    ...CONNECTION_FIELDS,
    clientSecret: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1_000, description: 'may be left out where one is kept already' }),
    ),
  }),
  result: SignInSettingsView,
  conflict: 'the provider would be required although nobody has signed in through it yet',
  example: {
    issuer: 'https://login.example.com',
    clientId: 'tocsin',
    clientSecret: 'the secret of the client',
    scope: 'openid email profile',
    isEnabled: true,
    isRequired: false,
    trustsSecondFactor: false,
    defaultRole: 'responder',
    roleClaim: 'groups',
    roleMap: [{ value: 'platform', role: 'editor' }],
  },
  async prepare({ issuer }, { installation }) {
    try {
      return await installation.openId.findIssuer(issuer);
    } catch (error) {
      if (!(error instanceof ProviderSignInError)) throw error;
      throw invalidInput([
        {
          path: 'issuer',
          message:
            'has no discovery document that can be used: it must answer over https at /.well-known/openid-configuration, name this issuer exactly, and sign with an asymmetric algorithm',
        },
      ]);
    }
  },
  async handle({ clientSecret, ...fields }, context, issuer) {
    const { caller, stores, now, record, installation, baseUrl } = context;
    const { orgId } = caller;
    await requireOwner(context);
    const before = await stores.openId.findConnection(orgId);
    const cipher = installation.ciphers.openIdSecrets;
    // A secret is sent only to the provider that it was entered for.
    const kept = before?.issuer === issuer && before.clientId === fields.clientId ? before.clientSecretSealed : null;
    const clientSecretSealed = clientSecret === undefined ? kept : cipher.encrypt(clientSecret);
    if (clientSecretSealed === null) {
      throw invalidInput([{ path: 'clientSecret', message: 'is required for a new issuer or client' }]);
    }
    if (fields.isRequired && (await stores.openId.countFollowers(orgId, issuer)) === 0) {
      throw new AppError('conflict', 'sign in through the provider once yourself before you require it of everybody');
    }
    const connection = {
      ...fields,
      orgId,
      issuer,
      clientSecretSealed,
      lastFault: before?.lastFault ?? null,
      lastFaultAt: before?.lastFaultAt ?? null,
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
    };
    await stores.openId.saveConnection(connection);
    record({
      target: orgId,
      before: before && { openIdConnection: auditedConnection(before) },
      after: {
        openIdConnection: auditedConnection(connection),
        ...(clientSecret !== undefined && { secretReplaced: true }),
      },
    });
    return await readSignInSettings(stores, orgId, baseUrl);
  },
});

export const removeOpenidConnection = defineOperation({
  name: 'remove_openid_connection',
  stepUp: true,
  summary:
    'Disconnect the provider of the organization. Sessions that were begun through it act no more from the next request on. Only owners may.',
  permission: 'organization:manage',
  effect: 'delete',
  result: Type.Object({ deleted: Type.Literal(true) }),
  async handle(_input, context) {
    const { caller, stores, record } = context;
    await requireOwner(context);
    const before = await stores.openId.findConnection(caller.orgId);
    if (before === null) throw new AppError('not_found', 'no provider is connected');
    await stores.openId.removeConnection(caller.orgId);
    record({ target: caller.orgId, before: { openIdConnection: auditedConnection(before) }, after: null });
    return { deleted: true as const };
  },
});
