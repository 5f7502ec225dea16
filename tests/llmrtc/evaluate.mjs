/**
 * Asks every `custom` rule of an exported module whether it holds in each context, and runs its hooks:
 * `node evaluate.mjs FOLDER MODULE < [context, …] > [{rule: [true, false, …]}, {variable: value}]`.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const { playbook } = await import(pathToFileURL(process.argv[3]));
const contexts = JSON.parse(readFileSync(0, 'utf8'));
const held = {};
for (const { id, condition } of playbook.transitions) {
  held[id] = contexts.map((context) => condition.evaluate(context));
}
const conversationContext = {};
for (const stage of playbook.stages) {
  await stage.onEnter?.({ stage, conversationContext, sessionMetadata: {}, transitionData: contexts[0]?.data });
}
process.stdout.write(JSON.stringify([held, conversationContext]));
