import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { proofRecordOf } from '#modules/sign_in/decide/claims.ts';
import { provenElsewhere } from '#modules/sign_in/operations/add_sign_in_domain.ts';
import { DomainField, readDomain } from '#modules/sign_in/operations/domain_fields.ts';
import { requireOwner } from '#modules/sign_in/require_owner.ts';
import { DomainView, toDomainView } from '#modules/sign_in/sign_in_view.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';

export const proveSignInDomain = defineAction({
  name: 'prove_sign_in_domain',
  consoleOnly: true,
  stepUp: true,
  summary: 'Look up the record in the DNS that proves a mail domain. Only owners may.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ domain: DomainField }, STRICT),
  result: DomainView,
  conflict: 'the record is not in the DNS, or another organization has proven the domain',
  example: { domain: 'example.com' },
  async prepare(input, { caller, stores, installation }) {
    const domain = readDomain(input.domain);
    const added = (await stores.openId.listDomains(caller.orgId)).find((other) => other.domain === domain);
    if (added === undefined) throw new AppError('not_found', 'the organization has no such domain; add it first');
    const { name, value } = proofRecordOf(domain, added.token);
    const records = await installation.findTextRecords(name);
    if (!records.some((text) => text.trim() === value)) {
      throw new AppError(
        'conflict',
        `the DNS has no TXT record ${name} with the value ${value} yet; after it was added it can take an hour`,
      );
    }
    return added;
  },
  async handle(_input, context, added) {
    const { stores, now, record, caller } = context;
    await requireOwner(context);
    const proven = { ...added, provenBy: 'dns' as const, provenAt: now };
    await stores.openId.saveDomain(proven).catch((error: unknown) => {
      if (isUniqueViolation(error)) throw provenElsewhere();
      throw error;
    });
    const { domain, provenBy } = added;
    record({ target: caller.orgId, before: { domain, provenBy }, after: { domain, provenBy: 'dns' } });
    return toDomainView(proven);
  },
});
