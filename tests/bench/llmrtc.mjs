/** Times LLMRTC's orchestrator: `node llmrtc.mjs FOLDER TURNS`, a document and a script on standard input. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, turns] = [process.argv[2], Number(process.argv[3])];
const core = await import(pathToFileURL(join(folder, 'node_modules/@llmrtc/llmrtc-core/dist/index.js')).href);
const { playbook, outputs } = JSON.parse(readFileSync(0, 'utf8'));

const results = outputs.map((turn) =>
  turn.map((output) => ({
    fullText: output.text ?? '',
    toolCalls: output.tool_calls?.map((call) => ({ callId: call.id, name: call.name, arguments: call.args })),
    stopReason: output.tool_calls ? 'tool_use' : 'end_turn',
  })),
);
let queue = [];
const provider = { name: 'scripted', complete: async () => queue.shift() };
const tools = new core.ToolRegistry();
const [definition] = playbook.stages[0].tools;
tools.register({ definition, handler: async () => ({ state: 'on its way', items: [1, 2, 3] }) });
const orchestrator = new core.PlaybookOrchestrator(provider, playbook, tools);

const times = [];
for (let turn = 0; turn < turns; turn += 1) {
  queue = [...results[turn % results.length]];
  const began = performance.now();
  await orchestrator.executeTurn(`Where is my order number A${turn}?`);
  times.push(performance.now() - began);
}
process.stdout.write(JSON.stringify({ times, stage: orchestrator.getEngine().getCurrentStage().id }));
