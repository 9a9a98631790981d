/** Proof of a domain: a record in the DNS, or the word of whoever runs the installation. */
export type DomainProof = 'dns' | 'operator';

/** Proven mail domains, in lower case. */
export type MailDomains = ReadonlySet<string>;

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const DOMAIN = new RegExp(`^(?:${LABEL}\\.)+${LABEL}$`);
const DOMAIN_LENGTH_MAX = 253;

/** Parses a mail domain and returns it in lower case; null for what is none. */
export function parseMailDomain(text: string): string | null {
  const domain = text.trim().replace(/^@/, '').toLowerCase();
  return domain.length <= DOMAIN_LENGTH_MAX && DOMAIN.test(domain) && !/^[\d.]+$/.test(domain) ? domain : null;
}

/** Returns the domain of a mail address, in lower case. */
export function mailDomainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1).toLowerCase();
}

/** Returns the TXT record that proves a domain. */
export function proofRecordOf(domain: string, token: string): { readonly name: string; readonly value: string } {
  return { name: `_tocsin.${domain}`, value: `tocsin-domain=${token}` };
}
