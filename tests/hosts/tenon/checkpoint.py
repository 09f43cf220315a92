"""Writes small checkpoints and runs without the program, by what schemas/ say of their files."""

import hashlib
import json
import struct


def safetensors(tensors, metadata=None):
    """Bytes of a file: by name a type, a shape and the values' bytes."""
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, (dtype, shape, values) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def state(step, epoch=1, pending=()):
    return {
        "format": 1,
        "pipeline": "digits",
        "pending": list(pending),
        "provenance": {
            "device": "cpu",
            "cpu_capability": "AVX2",
            "threads": 1,
            "deterministic_algorithms": True,
            "onednn": True,
            "float32": "ieee",
            "libtorch": "2.11.0",
            "data": {"train_set": {"size": 1077, "fingerprint": "digits:train:08f6"}},
        },
        "components": {"opt": {"step/net.weight": step}},
        "stop": [{"use": "observer:patience", "state": {"best": 0.5, "waited": 2}}],
        "training": {"step": step, "applied": step - 1, "epoch": epoch, "batch": 3, "samples": 64 * step},
    }


def make_checkpoint(folder, step=40, **more):
    """A checkpoint below `folder`; returns its path."""
    path = folder / f"step-{step:06}"
    path.mkdir(parents=True)
    weights = {"net.bias": ("F32", [2], floats(-0.5, 2)), "net.weight": ("F32", [2, 2], floats(1, float("nan"), -3, 0.25))}
    files = {
        "model.net.safetensors": safetensors(weights, {"net.tied": "net.weight"}),
        "optimizer.opt.safetensors": safetensors({"exp_avg/net.weight": ("F32", [2, 2], floats(0, 0, 0, 0))}),
        "state.json": json.dumps(state(step, **more)).encode(),
    }
    listed = []
    for name, content in files.items():
        (path / name).write_bytes(content)
        listed.append({"name": name, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()})
    (path / "manifest.json").write_text(json.dumps({"format": 1, "step": step, "files": listed}))
    return path


def make_run(folder, steps=(20, 40), metrics=(0.75, 0.5), ended="done", pending=()):
    """A run directory with checkpoints of which the first is the best; returns its path."""
    run = folder / "runs" / "digits" / "0001"
    for step in steps:
        make_checkpoint(run / "checkpoints", step, epoch=step // 20, pending=pending)
    (run / ".lock").touch()
    history = [
        {"step": step, "epoch": step // 20, "metrics": {"validate.acc": value}, "wall_time": 1.5, "pending": [], "kept": True}
        for step, value in zip(steps, metrics)
    ]
    index = {"format": 1, "last": steps[-1], "best": steps[0], "history": history}
    (run / "checkpoints" / "index.json").write_text(json.dumps(index))
    end = {"event": "run_end", "step": steps[-1], "time": 1.5, "epoch": 1, "text": ended}
    (run / "log.jsonl").write_text(json.dumps(end) + "\n" if ended else "")
    return run
