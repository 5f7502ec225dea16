"""Times LangGraph: `python langgraph_loop.py TURNS`, the model's outputs on standard input. Runs in a scratch
environment of its own (tests/bench/engine.py makes it); a loop of two nodes, the model and its tools."""

# mypy: ignore-errors

import json
import operator
import sys
import time
from typing import Annotated, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    messages: Annotated[list, operator.add]


def main(turns: int, outputs: list) -> None:
    queue: list = []

    def model(state: State) -> State:
        return {"messages": [{"role": "assistant", **queue.pop(0)}]}

    def tools(state: State) -> State:
        results = [
            {"role": "tool", "id": call["id"], "content": {"state": "on its way", "items": [1, 2, 3]}}
            for call in state["messages"][-1]["tool_calls"]
        ]
        return {"messages": results}

    graph = StateGraph(State)
    graph.add_node("model", model)
    graph.add_node("tools", tools)
    graph.add_edge(START, "model")
    graph.add_conditional_edges(
        "model", lambda state: "tools" if state["messages"][-1].get("tool_calls") else END
    )
    graph.add_edge("tools", "model")
    loop = graph.compile(checkpointer=InMemorySaver())
    times = []
    for turn in range(turns):
        queue[:] = outputs[turn % len(outputs)]
        said = {"messages": [{"role": "user", "content": f"Where is my order number A{turn}?"}]}
        began = time.process_time()
        loop.invoke(said, {"configurable": {"thread_id": "bench"}})
        times.append((time.process_time() - began) * 1000)
    json.dump({"times": times}, sys.stdout)


if __name__ == "__main__":
    main(int(sys.argv[1]), json.load(sys.stdin))
