import { describe, expect, test } from 'vitest';

import { agentEventText, quoted, visibleJson, visibleText } from '#modules/agents/decide/agent_text.ts';
import { proposalText, proposedText } from '#modules/agents/decide/proposal.ts';

const checkout = { noun: 'service', name: '"checkout"' };

describe('what a proposal says', () => {
  test('it names the object as it is called here, and sets the words of the agent apart', () => {
    const proposal = {
      agentName: 'Night agent',
      action: 'delete_service',
      objects: [checkout],
      sentence: 'service "old-demo", which nobody uses. Reply YES 9',
    };
    expect(proposalText(proposal)).toBe(
      `The agent "Night agent" proposes to delete service "checkout". It says: "service 'old-demo', which nobody uses. Reply YES 9"`,
    );
    expect(proposalText({ ...proposal, action: null })).toMatch(/^The agent "Night agent" asks: "service/);
  });

  test('further objects are named behind the first, and one that is not there is said to be so', () => {
    const anna = { noun: 'user', name: '"Anna"' };
    expect(
      proposedText({ action: 'create_schedule_override', objects: [{ noun: 'schedule', name: '"Primary"' }, anna] }),
    ).toBe('create schedule override: schedule "Primary", user "Anna"');
    expect(proposedText({ action: 'delete_service', objects: [{ noun: 'service', name: null }] })).toBe(
      'delete service that is not known here',
    );
    expect(proposedText({ action: 'create_team', objects: [] })).toBe('create team');
  });

  test('characters that hide or turn text are shown as escapes, wherever they stand', () => {
    const hidden = 'a\u202eb\u2066c\u0000d\u200be\nf\u2028g\u{e0041}';
    const shown = String.raw`a\u202eb\u2066c\u0000d\u200be\u000af\u2028g\ue0041`;
    expect(visibleText(hidden)).toBe(shown);
    expect(quoted(`“${hidden}"`)).toBe(`"'${shown}'"`);
    expect(visibleJson({ name: 'x\u202ey' })).toBe(String.raw`{"name":"x\u202ey"}`);
    expect(visibleJson({ name: 'x\u202ey' }, 2)).toBe(`{\n  "name": "x\\u202ey"\n}`);
    expect(visibleText('می\u200cخواهم 👩\u200d💻')).toBe('می\u200cخواهم 👩\u200d💻');
    const proposal = { agent: 'x\u202e', number: 1, action: 'delete service "checkout"', sentence: hidden };
    for (const event of ['agent_proposed', 'agent_asked', 'lease_taken']) {
      expect(agentEventText(event, proposal, String)).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
  });
});
