import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { newProofToken } from '#auth/openid/text_records.ts';
import { STRICT } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { DomainField, readDomain } from '#modules/sign_in/operations/domain_fields.ts';
import { requireOwner } from '#modules/sign_in/require_owner.ts';
import { DomainView, toDomainView } from '#modules/sign_in/sign_in_view.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';

const DOMAINS_MAX = 50;

export const addSignInDomain = defineAction({
  name: 'add_sign_in_domain',
  consoleOnly: true,
  stepUp: true,
  summary:
    'Add a mail domain whose people sign in through the provider. It counts once it is proven by a record in the DNS, which the answer shows. Only owners may.',
  permission: 'organization:manage',
  effect: 'write',
  input: Type.Object({ domain: DomainField }, STRICT),
  result: DomainView,
  conflict: `the organization has ${DOMAINS_MAX} domains already, or another one has proven this domain`,
  example: { domain: 'example.com' },
  async handle(input, context) {
    const { caller, stores, now, record } = context;
    const { orgId, actor } = caller;
    const domain = readDomain(input.domain);
    await requireOwner(context);
    const domains = await stores.openId.listDomains(orgId);
    const present = domains.find((other) => other.domain === domain);
    // Whoever runs the installation vouches for a domain by adding it.
    const isVouched = actor.kind === 'system';
    if (present !== undefined && (present.provenAt !== null || !isVouched)) return toDomainView(present);
    if (domains.length >= DOMAINS_MAX) {
      throw new AppError('conflict', `an organization has at most ${DOMAINS_MAX} domains; remove one first`);
    }
    const row = {
      orgId,
      domain,
      token: present?.token ?? newProofToken(),
      provenBy: isVouched ? ('operator' as const) : null,
      provenAt: isVouched ? now : null,
      createdAt: now,
    };
    await stores.openId.saveDomain(row).catch((error: unknown) => {
      if (isUniqueViolation(error)) throw provenElsewhere();
      throw error;
    });
    record({ target: orgId, before: null, after: { domain, provenBy: row.provenBy } });
    return toDomainView(row);
  },
});

export function provenElsewhere(): AppError {
  return new AppError('conflict', 'another organization of this installation has proven the domain; remove it there');
}
