/**
 * Plays cases through LLMRTC's own orchestrator: `node run.mjs FOLDER < cases.json > results.json`.
 *
 * FOLDER holds node_modules. A case is {playbook or module, turns, tools, options, mode}; the outputs of its models, the
 * results of its tools, the intents of its messages and its time are the script's. Nothing is waited for: time
 * jumps to the next timer. Conditions and hooks are named in a case and stand here: a case carries no code.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// -- time ---------------------------------------------------------------------------------------------------

const START = Date.parse('2026-01-05T09:00:00Z');
let now = START;
let timers = [];
Date.now = () => now;
globalThis.setTimeout = (run, ms = 0) => {
  const timer = { run, at: now + ms };
  timers.push(timer);
  return timer;
};
globalThis.clearTimeout = (timer) => {
  timers = timers.filter((other) => other !== timer);
};

function passTo(at) {
  now = Math.max(now, at);
}

/** The outcome of `work`; whenever nothing but timers is left, the earliest one rings. */
async function settled(work) {
  let done = false;
  const outcome = work.then(
    (value) => ({ value }),
    (error) => ({ error }),
  );
  outcome.finally(() => {
    done = true;
  });
  while (!done) {
    await new Promise((resolve) => setImmediate(resolve));
    if (done || timers.length === 0) continue;
    const next = timers.reduce((first, other) => (other.at < first.at ? other : first));
    clearTimeout(next);
    passTo(next.at);
    next.run();
  }
  return outcome;
}

// -- the model and the tools --------------------------------------------------------------------------------

class ScriptedProvider {
  name = 'scripted';
  outputs = [];
  requests = [];

  async complete(request) {
    this.requests.push(JSON.stringify(request));
    const output = this.outputs.shift();
    if (!output) throw Object.assign(new Error('The script has no output left.'), { status: 400 });
    if (output.error) throw Object.assign(new Error(output.error.message), { status: output.error.status });
    const calls = (output.tool_calls ?? []).map((call) => ({
      callId: call.id,
      name: call.name,
      arguments: call.args,
    }));
    return { fullText: output.text ?? '', toolCalls: calls, stopReason: calls.length ? 'tool_use' : 'end_turn' };
  }

  async *stream(request) {
    const result = await this.complete(request);
    yield { content: result.fullText, done: false };
    yield { content: '', done: true, stopReason: result.stopReason };
  }
}

function registry(ToolRegistry, playbook, scripts) {
  const tools = new ToolRegistry();
  const definitions = [...(playbook.globalTools ?? []), ...playbook.stages.flatMap((stage) => stage.tools ?? [])];
  for (const definition of definitions) {
    if (tools.get(definition.name)) continue;
    tools.register({ definition, handler: () => answer(scripts[definition.name] ?? {}) });
  }
  return tools;
}

async function answer(script) {
  if (script.sleep_s) await new Promise((resolve) => setTimeout(resolve, script.sleep_s * 1000));
  if (script.raises) throw new Error(script.raises);
  return script.returns ?? null;
}

// -- functions, by the names that functions.py has our expressions and actions for ---------------------------

const toolCalls = (context) => context.lastToolCalls ?? [];
const CONDITIONS = {
  'second-turn': (context) => context.turnCount >= 2,
  'says-order': (context) => (context.lastAssistantMessage ?? '').startsWith('Order '),
  'long-reply': (context) => (context.lastAssistantMessage ?? '').length > 20,
  'in-front': (context) => context.currentStage === 'front',
  'looked-for-red': (context) =>
    toolCalls(context).some((call) => call.name === 'look' && call.arguments.what === 'red'),
  'no-tool-called': (context) => toolCalls(context).length === 0,
  later: async (context) => context.turnCount >= 1,
  fails: () => {
    throw new Error('This condition fails.');
  },
};
const HOOKS = {
  note: () => undefined,
  'note-later': async () => undefined,
  fails: () => {
    throw new Error('This hook fails.');
  },
};

function named(functions, name) {
  if (!Object.hasOwn(functions, name)) throw new Error(`There is no function ${name}.`);
  return functions[name];
}

/** Puts the functions where the case has their names. */
function giveFunctions(playbook) {
  for (const { condition } of playbook.transitions) {
    if (condition.type === 'custom') condition.evaluate = named(CONDITIONS, condition.function);
  }
  for (const stage of playbook.stages) {
    for (const hook of hooksOf(stage)) stage[hook] = named(HOOKS, stage[hook]);
  }
}

const hooksOf = (stage) => ['onEnter', 'onExit'].filter((name) => name in stage);

/** `note` hears of each hook, whatever becomes of it. */
function watchHooks(playbook, note) {
  for (const stage of playbook.stages) {
    for (const hook of hooksOf(stage)) {
      const run = stage[hook];
      stage[hook] = (context) => {
        note(`${hook} ${stage.id}`);
        return run(context);
      };
    }
  }
}

/** The case's playbook with functions: those that its names stand for, or those of an exported module. */
async function playbookOf(one) {
  if (one.module) return (await import(pathToFileURL(one.module))).playbook;
  giveFunctions(one.playbook);
  return one.playbook;
}

/** What a host program that classifies each message does: it writes the likeliest intent into the context. */
function writeIntent(orchestrator, intents) {
  const [likeliest] = Object.entries(intents).sort(([, a], [, b]) => b - a);
  const [detectedIntent, intentConfidence] = likeliest ?? [];
  orchestrator.getEngine().updateContext({ detectedIntent, intentConfidence });
}

// -- a case -------------------------------------------------------------------------------------------------

async function play({ PlaybookOrchestrator, ToolRegistry }, one) {
  timers = [];
  now = START;
  const provider = new ScriptedProvider();
  const playbook = await playbookOf(one);
  const tools = registry(ToolRegistry, playbook, one.tools ?? {});
  let seen = null;
  watchHooks(playbook, (hook) => seen.hooks.push(hook));
  const orchestrator = new PlaybookOrchestrator(provider, playbook, tools, one.options ?? {});
  orchestrator.on((event) => {
    if (event.type === 'transition') {
      const implicit = event.transition.id.startsWith('implicit_llm_');
      seen.fired.push(implicit ? 'implicit' : event.transition.id);
      seen.path.push(event.to.id);
    } else if (event.type === 'tool_call_start') {
      seen.order.push(`start ${event.call.callId}`);
    } else if (event.type === 'tool_call_complete') {
      seen.order.push(`end ${event.call.callId}`);
      seen.tools.push(toolSeen(event));
    }
  });
  const turns = [];
  for (const step of one.turns) {
    seen = { reply: '', failed: false, path: [], fired: [], tools: [], order: [], hooks: [], found: [] };
    const asked = provider.requests.length;
    if (step.wait_s) {
      passTo(now + step.wait_s * 1000);
    } else {
      provider.outputs = structuredClone(step.model ?? []);
      if (step.intents) writeIntent(orchestrator, step.intents);
      const { value, error } = await settled(turn(orchestrator, step.user, one.mode));
      seen.failed = error !== undefined;
      seen.reply = value ?? '';
    }
    const last = provider.requests.slice(asked).at(-1) ?? '';
    seen.found = (one.look_for ?? []).filter((text) => last.includes(text));
    seen.stage = orchestrator.getEngine().getCurrentStage().id;
    turns.push(seen);
  }
  return turns;
}

function toolSeen({ call, result }) {
  const outcome = call.name === 'playbook_transition' || !result.success ? null : result.result;
  return { id: call.callId, name: call.name, success: result.success, result: outcome };
}

async function turn(orchestrator, user, mode) {
  if (mode !== 'stream') return (await orchestrator.executeTurn(user)).response;
  let reply = '';
  for await (const piece of orchestrator.streamTurn(user)) {
    if (piece.type === 'content') reply += piece.data;
  }
  return reply;
}

const folder = process.argv[2];
const core = await import(pathToFileURL(join(folder, 'node_modules/@llmrtc/llmrtc-core/dist/index.js')).href);
const results = [];
for (const one of JSON.parse(readFileSync(0, 'utf8'))) results.push(await play(core, one));
process.stdout.write(JSON.stringify(results));
