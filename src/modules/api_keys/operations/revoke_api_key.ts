import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { auditedApiKey, toApiKeyView } from '#modules/api_keys/operations/view.ts';
import { visibleOwner } from '#modules/organizations/visible_owner.ts';
import { AppError } from '#kernel/errors.ts';

export const revokeApiKey = defineAction({
  name: 'revoke_api_key',
  consoleOnly: true,
  summary: 'Revoke an API key: it is refused from the next request on.',
  permission: 'organization:view',
  effect: 'delete',
  input: Type.Object({ apiKeyId: IdText }, STRICT),
  result: Type.Object({ deleted: Type.Literal(true), apiKeyId: IdText }),
  example: { apiKeyId: EXAMPLE_IDS.apiKeyId },
  async handle({ apiKeyId }, { caller, stores, now, record }) {
    const apiKey = await stores.apiKeys.find(caller.orgId, apiKeyId);
    const owner = visibleOwner(caller);
    const isTheirs = apiKey !== null && (owner === null || apiKey.userId === owner);
    if (!isTheirs || !(await stores.apiKeys.revoke(apiKeyId, now))) {
      throw new AppError('not_found', 'there is no such key, or it is not yours');
    }
    record({ target: apiKeyId, before: auditedApiKey(toApiKeyView(apiKey)), after: null });
    return { deleted: true as const, apiKeyId };
  },
});
