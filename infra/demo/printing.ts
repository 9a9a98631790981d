import type { Incident } from './client.ts';

const isTerminal = process.stdout.isTTY;

export function heading(text: string): void {
  process.stdout.write(`\n${isTerminal ? `\u001B[1m${text}\u001B[0m` : text}\n`);
}

export function line(text: string): void {
  process.stdout.write(`  ${text}\n`);
}

/** The timeline with the time since the trigger, and how long each message took. */
export function printTimeline(incident: Incident): void {
  line('');
  line(`#${incident.number} ${incident.title} (${incident.status})`);
  const began = Date.parse(incident.triggeredAt);
  for (const { at, text } of incident.timeline) line(`  +${String(Date.parse(at) - began).padStart(5)} ms  ${text}`);
  for (const { channel, to, status, at, updatedAt } of incident.notifications) {
    line(`  ${channel} to ${to}: ${status}, ${Date.parse(updatedAt) - Date.parse(at)} ms from decision to last report`);
  }
}
