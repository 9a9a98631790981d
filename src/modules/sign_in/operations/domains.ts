import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { newProofToken } from '#auth/openid/text_records.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { parseMailDomain, proofRecordOf } from '#modules/sign_in/decide/claims.ts';
import { requireOwner } from '#modules/sign_in/require_owner.ts';
import { DomainView, toDomainView } from '#modules/sign_in/sign_in_view.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';

const DomainField = Type.String({ minLength: 1, maxLength: 254, description: 'a mail domain: example.com' });

/** Returns the domain in lower case. Throws `invalid_input`. */
function readDomain(text: string): string {
  const domain = parseMailDomain(text);
  if (domain !== null) return domain;
  throw invalidInput([{ path: 'domain', message: 'is no mail domain; write it as in example.com, in ASCII' }]);
}

const DOMAINS_MAX = 50;

export const addSignInDomain = defineOperation({
  name: 'add_sign_in_domain',
  stepUp: true,
  summary:
    'Add a mail domain whose people sign in through the provider. It counts once it is proven by a record in the DNS, which the answer shows. Only owners may.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ domain: DomainField }),
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

function provenElsewhere(): AppError {
  return new AppError('conflict', 'another organization of this installation has proven the domain; remove it there');
}

export const proveSignInDomain = defineOperation({
  name: 'prove_sign_in_domain',
  stepUp: true,
  summary: 'Look up the record in the DNS that proves a mail domain. Only owners may.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ domain: DomainField }),
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

export const removeSignInDomain = defineOperation({
  name: 'remove_sign_in_domain',
  stepUp: true,
  summary: 'Remove a mail domain: its people sign in through the provider no more. Only owners may.',
  permission: 'organization:manage',
  effect: 'delete',
  input: StrictObject({ domain: DomainField }),
  result: Type.Object({ deleted: Type.Literal(true), domain: Type.String() }),
  example: { domain: 'example.com' },
  async handle(input, context) {
    const { caller, stores, record } = context;
    const domain = readDomain(input.domain);
    await requireOwner(context);
    if (!(await stores.openId.removeDomain(caller.orgId, domain))) {
      throw new AppError('not_found', 'the organization has no such domain');
    }
    record({ target: caller.orgId, before: { domain }, after: null });
    return { deleted: true as const, domain };
  },
});
