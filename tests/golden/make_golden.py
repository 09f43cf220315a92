"""Writes what Python's torch says of optimizers, schedules and losses, as JSON beside this file or into a folder.

To make the files anew after a change here: ~/.cache/tenon/libtorch-2.11.0/bin/python-torch tests/golden/make_golden.py
With a folder as its argument it writes there. It prints nothing; the same torch on the same kind of processor writes
the same bytes. All numbers are float64, written so that they read back to the same bits. `params` are those of the
component, which the tests hand on unchanged.
"""

import json
import math
import pathlib
import random
import sys

import torch

FOLDER = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
STEPS = 200
EVERY = 10  # steps between two points of a trajectory

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


def short(values, digits=4):
    """Numbers of few digits: inputs that take little room."""
    return [round(value, digits) for value in values]


def gaussian(draw, count, scale=1.0):
    return short(draw.gauss(0, scale) for _ in range(count))


# ---- optimizers ------------------------------------------------------------------------------------------------------

SHAPES = {"net.weight": [2, 3], "net.bias": [2]}

OPTIMIZERS = [
    # name, component, parameters, whether the rate changes
    ("plain", "sgd", {"lr": 0.05}, False),
    ("weight decay", "sgd", {"lr": 0.05, "weight_decay": 0.02}, False),
    ("momentum", "sgd", {"lr": 0.02, "momentum": 0.9}, False),
    ("momentum, changing rate", "sgd", {"lr": 0.02, "momentum": 0.9, "weight_decay": 0.01}, True),
    ("dampening", "sgd", {"lr": 0.05, "momentum": 0.8, "dampening": 0.3, "weight_decay": 0.01}, True),
    ("full dampening", "sgd", {"lr": 0.05, "momentum": 0.9, "dampening": 1.0}, False),
    ("nesterov", "sgd", {"lr": 0.02, "momentum": 0.9, "nesterov": True}, False),
    ("nesterov with all", "sgd", {"lr": 0.02, "momentum": 0.7, "nesterov": True, "weight_decay": 0.05}, True),
    ("defaults", "adamw", {}, False),
    ("no decay", "adamw", {"lr": 0.01, "weight_decay": 0}, False),
    ("all", "adamw", {"lr": 0.02, "beta1": 0.8, "beta2": 0.95, "eps": 1e-6, "weight_decay": 0.1}, True),
    ("large eps", "adamw", {"lr": 0.1, "beta1": 0.0, "beta2": 0.5, "eps": 0.5, "weight_decay": 0.3}, False),
]


def torch_optimizer(component, params, tensors):
    if component == "sgd":
        return torch.optim.SGD(tensors, **({"lr": 0.01} | params), foreach=False, fused=False)
    own = {"lr": 1e-3, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.01} | params
    betas = (own.pop("beta1"), own.pop("beta2"))
    return torch.optim.AdamW(tensors, betas=betas, **own, foreach=False, fused=False)


def optimizers():
    draw = random.Random(11)
    start = gaussian(draw, 8)
    gradients = [gaussian(draw, 8, scale=2) for _ in range(STEPS)]
    rates = short((0.02 * (1 + math.cos(step / 25)) + 0.001 for step in range(STEPS)), digits=6)
    cases = []
    for name, component, params, changing in OPTIMIZERS:
        flat = torch.tensor(start)
        tensors = [flat[:6].reshape(2, 3).clone(), flat[6:].clone()]
        optimizer = torch_optimizer(component, params, tensors)
        trajectory = []
        for step, gradient in enumerate(gradients):
            if changing:
                optimizer.param_groups[0]["lr"] = rates[step]
            whole = torch.tensor(gradient)
            tensors[0].grad, tensors[1].grad = whole[:6].reshape(2, 3), whole[6:]
            optimizer.step()
            if (step + 1) % EVERY == 0:
                trajectory.append(torch.cat([tensor.flatten() for tensor in tensors]).tolist())
        cases.append({"name": name, "component": component, "params": params, "changing_rate": changing,
                      "trajectory": trajectory})
    return {"shapes": SHAPES, "start": start, "gradients": gradients, "rates": rates, "every": EVERY, "cases": cases}


# ---- schedules -------------------------------------------------------------------------------------------------------


def one_rate():
    """An optimizer whose rate is the factor."""
    return torch.optim.SGD([torch.zeros(1)], lr=1.0)


def factors(make, steps, ticks=1):
    """The factor before each step of a scheduler that moves on every `ticks` steps."""
    optimizer = one_rate()
    scheduler = make(optimizer)
    found = []
    for step in range(steps):
        found.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if (step + 1) % ticks == 0:
            scheduler.step()
    return found


def plateau(params, better, metrics):
    optimizer = one_rate()
    own = {"factor": 0.1, "patience": 10} | {key: value for key, value in params.items() if key != "metric"}
    own["min_lr"] = own.pop("floor", 0)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode=better, eps=0, **own)
    found = []
    for metric in metrics:
        scheduler.step(metric)
        found.append(optimizer.param_groups[0]["lr"])
    return found


def schedules():
    known = torch.optim.lr_scheduler
    steps_per_epoch = 5
    cases = []

    def add(name, component, params, found):
        cases.append({"name": name, "component": component, "params": params, "factors": found})

    add("StepLR by steps", "step", {"every": "7 steps", "gamma": 0.5},
        factors(lambda optimizer: known.StepLR(optimizer, 7, gamma=0.5), 60))
    add("StepLR by epochs", "step", {"every": "3 epochs"},
        factors(lambda optimizer: known.StepLR(optimizer, 3), 60, steps_per_epoch))
    add("MultiStepLR by steps", "step", {"at": ["4 steps", "31 steps", "32 steps"], "gamma": 0.3},
        factors(lambda optimizer: known.MultiStepLR(optimizer, [4, 31, 32], gamma=0.3), 60))
    add("MultiStepLR by epochs, out of order, one twice", "step",
        {"at": ["9 epochs", "2 epochs", "6 epochs", "6 epochs"], "gamma": 0.2},
        factors(lambda optimizer: known.MultiStepLR(optimizer, [9, 2, 6, 6], gamma=0.2), 60, steps_per_epoch))
    add("CosineAnnealingLR", "cosine", {"until": "60 steps", "floor": 0.1},
        factors(lambda optimizer: known.CosineAnnealingLR(optimizer, 60, eta_min=0.1), 60))
    add("LinearLR, then CosineAnnealingLR", "cosine", {"warmup": "8 steps", "until": "60 steps"},
        factors(lambda optimizer: known.SequentialLR(
            optimizer, [known.LinearLR(optimizer, 1 / 8, 1.0, 7), known.CosineAnnealingLR(optimizer, 52)], [8]), 60))

    draw = random.Random(23)
    noisy = short(2 * math.exp(-step / 12) + 0.3 + draw.gauss(0, 0.05) for step in range(80))
    rising = short(1 - 0.9 * math.exp(-step / 15) + draw.gauss(0, 0.02) for step in range(80))
    for name, params, better, metrics in [
        ("defaults", {}, "min", noisy),
        ("impatient", {"patience": 0, "factor": 0.9}, "min", noisy),
        ("by share, falling", {"patience": 2, "threshold": 0.05, "factor": 0.5}, "min", noisy),
        ("by share, rising", {"patience": 1, "threshold": 0.02, "factor": 0.5}, "max", rising),
        ("by amount, falling", {"patience": 2, "threshold": 0.1, "threshold_mode": "abs", "factor": 0.3}, "min", noisy),
        ("by amount, rising", {"patience": 3, "threshold": 0.01, "threshold_mode": "abs", "factor": 0.3}, "max", rising),
        ("cooling down", {"patience": 1, "cooldown": 4, "factor": 0.5}, "max", rising),
        ("with a floor", {"patience": 1, "factor": 0.3, "floor": 0.05}, "min", noisy),
    ]:
        cases.append({"name": name, "component": "plateau", "params": params | {"metric": "validate.value"},
                      "better": better, "metrics": metrics, "factors": plateau(params, better, metrics)})
    return {"steps_per_epoch": steps_per_epoch, "cases": cases}


# ---- losses ----------------------------------------------------------------------------------------------------------


def packed(tensor):
    return {"shape": list(tensor.shape), "values": tensor.flatten().tolist()}


def drawn(draw, shape, scale=1.0):
    return torch.tensor(gaussian(draw, math.prod(shape), scale)).reshape(shape)


def loss_case(name, component, params, inputs, of, mean, weight):
    """`mean`: the loss as torch means it, whose gradient with respect to the input `of` is written down."""
    inputs[of].requires_grad_(True)
    value = mean()
    value.backward()
    return {"name": name, "component": component, "params": params, "of": of, "weight": float(weight),
            "mean": value.item(), "gradient": packed(inputs[of].grad),
            "in": {port: packed(tensor.detach()) for port, tensor in inputs.items()}}


def cross_entropy(draw, name, params, shape, ignored=()):
    logits = drawn(draw, shape, scale=3)
    target_shape = [shape[0], *shape[2:]]
    target = torch.tensor([draw.randrange(shape[1]) for _ in range(math.prod(target_shape))])
    for index in ignored:
        target[index] = params.get("ignore_index", -100)
    target = target.reshape(target_shape)
    weights = torch.tensor(params["class_weights"]) if "class_weights" in params else None
    counts = target != params.get("ignore_index", -100)
    weight = (weights[target[counts]] if weights is not None else counts).sum()
    return loss_case(
        name, "cross_entropy", params, {"logits": logits, "target": target}, "logits",
        lambda: torch.nn.functional.cross_entropy(
            logits, target, weight=weights, ignore_index=params.get("ignore_index", -100),
            label_smoothing=params.get("label_smoothing", 0.0)), weight)


def mse(draw, name, shape, weighted=False):
    prediction, target = drawn(draw, shape, scale=2), drawn(draw, shape)
    inputs = {"prediction": prediction, "target": target}
    if not weighted:
        return loss_case(name, "mse", {}, inputs, "prediction",
                         lambda: torch.nn.functional.mse_loss(prediction, target), shape[0])
    inputs["weight"] = weight = torch.tensor(short(draw.uniform(0, 3) for _ in range(shape[0])))
    each = weight.reshape([shape[0]] + [1] * (len(shape) - 1)).expand(shape)
    return loss_case(name, "mse", {}, inputs, "prediction",
                     lambda: torch.nn.functional.mse_loss(prediction, target, weight=each), weight.sum())


def bce(draw, name, params, shape, target_shape=None, classes=False, weighted=False):
    logits = drawn(draw, shape, scale=3)
    if "target" in params:
        target = torch.full(shape, params["target"])
        inputs = {"logits": logits}
    else:
        values = [draw.randrange(2) if classes else round(draw.random(), 4) for _ in range(math.prod(shape))]
        inputs = {"logits": logits, "target": torch.tensor(values).reshape(target_shape or shape)}
        target = inputs["target"].to(torch.float64).reshape(shape)
    weight, each = None, None
    if weighted:
        inputs["weight"] = weight = torch.tensor(short(draw.uniform(0, 3) for _ in range(shape[0])))
        each = weight.reshape([shape[0]] + [1] * (len(shape) - 1)).expand(shape)
    pos_weight = torch.tensor(params["pos_weight"]) if "pos_weight" in params else None
    total = shape[0] if weight is None else weight.sum()
    return loss_case(
        name, "bce", params, inputs, "logits",
        lambda: torch.nn.functional.binary_cross_entropy_with_logits(
            logits, target, weight=each, pos_weight=pos_weight, reduction="sum") / (total * math.prod(shape[1:])), total)


def distillation(draw, name, params, shape):
    student, teacher = drawn(draw, shape, scale=3), drawn(draw, shape, scale=3)
    temperature = params.get("temperature", 4.0)
    return loss_case(
        name, "distillation", params, {"student": student, "teacher": teacher}, "student",
        lambda: temperature**2 * torch.nn.functional.kl_div(
            torch.log_softmax(student / temperature, 1), torch.softmax(teacher / temperature, 1),
            reduction="batchmean"), shape[0])


def pixel_case(draw, name, component, params, shape, mean):
    """`mean` of logits and a mask, some pixels of which do not count; of logits alone gradients are written down."""
    logits = drawn(draw, shape, scale=3)
    target = torch.tensor([draw.randrange(shape[1]) for _ in range(shape[0] * shape[2] * shape[3])])
    target[::5] = params.get("ignore", 255)
    target = target.reshape(shape[0], *shape[2:])
    value, weight = mean(target)
    return loss_case(name, component, params, {"logits": logits, "target": target}, "logits",
                     lambda: value(logits), weight)


def pixel_cross_entropy(draw, name, params, shape):
    weights = torch.tensor(params["class_weights"]) if "class_weights" in params else None
    ignored = params.get("ignore", 255)

    def mean(target):
        counts = target != ignored
        weight = (weights[target[counts]] if weights is not None else counts).sum()
        return lambda logits: torch.nn.functional.cross_entropy(logits, target, weight=weights,
                                                                ignore_index=ignored), weight

    return pixel_case(draw, name, "pixel_cross_entropy", params, shape, mean)


def dice(draw, name, params, shape):
    ignored, smooth = params.get("ignore", 255), params.get("smooth", 1.0)

    def mean(target):
        counts = (target != ignored).unsqueeze(1)
        wanted = torch.nn.functional.one_hot(torch.where(target == ignored, 0, target), shape[1]).movedim(3, 1) * counts

        def value(logits):
            given = torch.softmax(logits, 1) * counts
            overlap, area = (given * wanted).sum((2, 3)), (given + wanted).sum((2, 3))
            return 1 - ((2 * overlap + smooth) / (area + smooth)).mean()

        return value, shape[0]

    return pixel_case(draw, name, "dice", params, shape, mean)


def losses():
    draw = random.Random(37)
    weights = [1.0, 0.5, 0.0, 2.0]
    return {"cases": [
        cross_entropy(draw, "plain", {}, [6, 4]),
        cross_entropy(draw, "smoothed", {"label_smoothing": 0.1}, [6, 4]),
        cross_entropy(draw, "weighted", {"class_weights": weights}, [6, 4]),
        cross_entropy(draw, "ignored", {"ignore_index": 255}, [6, 4], ignored=[1, 4]),
        cross_entropy(draw, "all, over pixels",
                      {"class_weights": weights, "label_smoothing": 0.2, "ignore_index": -1}, [3, 4, 2, 3],
                      ignored=[0, 7, 8]),
        mse(draw, "one value a sample", [7]),
        mse(draw, "some values a sample", [5, 3]),
        mse(draw, "images", [2, 2, 3, 2]),
        mse(draw, "weighted, one value a sample", [6], weighted=True),
        mse(draw, "weighted, some values a sample", [4, 2, 3], weighted=True),
        bce(draw, "one logit a sample", {}, [7]),
        bce(draw, "classes beside an axis of one", {}, [6, 1], target_shape=[6], classes=True),
        bce(draw, "some logits a sample, rare positives", {"pos_weight": 2.5}, [4, 3], classes=True),
        bce(draw, "weighted", {"pos_weight": 0.5}, [3, 2, 2], weighted=True),
        bce(draw, "constant", {"target": 0.9}, [5, 2]),
        distillation(draw, "default temperature", {}, [5, 3]),
        distillation(draw, "temperature of one", {"temperature": 1.0}, [4, 6]),
        distillation(draw, "high temperature", {"temperature": 20.0}, [3, 4]),
        pixel_cross_entropy(draw, "pixels", {}, [2, 3, 3, 4]),
        pixel_cross_entropy(draw, "weighted pixels", {"class_weights": weights, "ignore": 9}, [3, 4, 2, 3]),
        dice(draw, "masks", {}, [2, 3, 3, 4]),
        dice(draw, "masks, hardly smoothed", {"smooth": 0.01, "ignore": 9}, [3, 2, 4, 3]),
    ]}


def write(name, content):
    content = {"made_by": f"make_golden.py with torch {torch.__version__.split('+')[0]}"} | content
    rows = json.dumps(content, separators=(",", ":")).replace('{"name"', '\n{"name"').replace("[[", "[\n[")
    (FOLDER / f"{name}.json").write_text(rows.replace("],[", "],\n[") + "\n")


if __name__ == "__main__":
    write("optimizers", optimizers())
    write("schedules", schedules())
    write("losses", losses())
