import { findMailFault, type MailServer } from '#notify/mail/send_mail.ts';

const GOOD_FOR_MS = 5 * 60_000;

/** Returns what tells why no mail would ever leave, or null. It asks the server when it has not done so for five minutes. */
export function rememberMailFault(server: MailServer | null): () => Promise<string | null> {
  let asked: { readonly atMs: number; readonly fault: Promise<string | null> } | null = null;
  return async () => {
    if (server === null) return null;
    const atMs = performance.now();
    if (asked === null || atMs - asked.atMs > GOOD_FOR_MS) asked = { atMs, fault: findMailFault(server) };
    return await asked.fault;
  };
}
