"""Images of every format, read by dataset:image_folder and its kin, equal what Pillow makes of them.

Bounds: PNG, WebP, BMP, TIFF, PNM and JPEG 2000 without loss: equal to the bit, in all colours and orientations. JPEG:
equal to the bit where Pillow's libjpeg-turbo agrees with ours, else at most JPEG_BOUND apart.
"""
import contextlib
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

try:
    import numpy as np
    from PIL import Image, ImageOps
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

BUILD = Path(os.environ.get("TENON_BUILD_DIR", "build/release"))
TOOL = str(BUILD / "tests" / "tenon_image_tool")
PLUGIN = str(BUILD / "lib" / "tenon" / "plugins" / "tenon_image_datasets.so")
JPEG_BOUND = 1
SAMPLINGS = {
    "444": [[1, 1], [1, 1], [1, 1]],
    "422": [[2, 1], [1, 1], [1, 1]],
    "420": [[2, 2], [1, 1], [1, 1]],
    "440": [[1, 2], [1, 1], [1, 1]],
    "411": [[4, 1], [1, 1], [1, 1]],
}
failures = []
said = []  # what each run of the tool wrote to the console


def check(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED", what)


def tool(*words):
    done = subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit {done.returncode}: {done.stderr}")
    said.append(done.stderr)
    return done.stdout


def read(name, **params):
    """All items of a dataset: dictionaries of arrays, or {"error": text}; with what open() had to say."""
    with tempfile.NamedTemporaryFile() as out:
        told = json.loads(tool("dump", PLUGIN, name, json.dumps(params), out.name))
        data = Path(out.name).read_bytes()
    for item in told.get("items", []):
        if "error" in item:
            continue
        for field, what in item.items():
            count = int(np.prod(what["shape"], dtype=np.int64))
            item[field] = np.frombuffer(data, what["dtype"], count, what["offset"]).reshape(what["shape"])
    return told


def read_folder(folder, **params):
    """Items of a folder without classes by their files' names."""
    told = read("image_folder", path=str(folder), labels=False, **params)
    assert "items" in told, told
    return dict(zip(sorted(each.name for each in Path(folder).iterdir()), told["items"]))


def photo(width, height, channels, seed=1):
    """Slopes, edges and noise: uint8 [height, width, channels]."""
    y, x, c = np.mgrid[0:height, 0:width, 0:channels]
    values = x * (3 + c) + y * (5 - c) + (x // 7 + y // 5 + c) % 2 * 70
    return ((values + np.random.default_rng(seed).integers(0, 24, values.shape)) % 256).astype(np.uint8)


def by_pillow(path, mode, upright=True):
    image = Image.open(path)
    if upright:
        image = ImageOps.exif_transpose(image)
    array = np.asarray(image.convert(mode))
    return array[:, :, None] if array.ndim == 2 else array


def exif(orientation):
    data = Image.Exif()
    data[0x0112] = orientation
    return data


def write_jpegs(folder):
    rgb = Image.fromarray(photo(83, 61, 3))
    for name, sampling in SAMPLINGS.items():
        for progressive in (False, True):
            for restart in (0, 3):
                kind = dict(width=83, height=61, sampling=sampling, progressive=progressive, quality=87)
                kind["restart"] = restart
                tool("write", folder / f"{name}-{progressive:d}-{restart}.jpg", json.dumps(kind))
    for space in ("grey", "rgb", "cmyk", "ycck"):
        tool("write", folder / f"{space}.jpg", json.dumps(dict(width=45, height=38, space=space)))
    for size in range(1, 20):
        tool("write", folder / f"size-{size}.jpg",
             json.dumps(dict(width=size, height=20 - size, sampling=SAMPLINGS["420"])))
    tool("write", folder / "arithmetic.jpg", json.dumps(dict(width=45, height=38, arithmetic=True)))
    for orientation in range(1, 9):
        rgb.save(folder / f"turned-{orientation}.jpg", exif=exif(orientation), quality=90)
        rgb.convert("CMYK").save(folder / f"turned-cmyk-{orientation}.jpg", exif=exif(orientation), quality=90)


def write_others(folder):
    rgb, rgba = photo(53, 41, 3), photo(53, 41, 4)
    grey = photo(53, 41, 1)[:, :, 0]
    images = {
        "rgb": Image.fromarray(rgb),
        "rgba": Image.fromarray(rgba),
        "grey": Image.fromarray(grey),
        "grey-alpha": Image.fromarray(photo(53, 41, 2)),
        "palette": Image.fromarray(rgb).quantize(200),
        "palette-4": Image.fromarray(rgb).quantize(13),
        "bits": Image.fromarray(grey).convert("1"),
    }
    for name, image in images.items():
        image.save(folder / f"{name}.png")
    images["rgb"].save(folder / "filtered.png", optimize=True)
    images["palette"].save(folder / "transparent.png", transparency=3)
    for name in ("rgb", "grey", "rgba"):
        images[name].save(folder / f"{name}.bmp")
        images[name].save(folder / f"{name}.tif")
        images[name].save(folder / f"{name}-packed.tif", compression="tiff_lzw")
    images["palette"].save(folder / "palette.bmp")
    images["palette"].save(folder / "palette.tif")
    images["bits"].save(folder / "bits.bmp")
    images["bits"].save(folder / "bits.tif")
    images["bits"].save(folder / "bits-g4.tif", compression="group4")
    for name in ("rgb", "rgba"):
        images[name].save(folder / f"{name}.webp", lossless=True, exact=True)
    images["rgb"].save(folder / "lossy.webp", quality=80)
    images["rgb"].save(folder / "rgb.ppm")
    images["grey"].save(folder / "grey.pgm")
    images["bits"].save(folder / "bits.pbm")
    for largest in (1, 3, 10, 100, 254):
        small = rgb[:7, :9] % (largest + 1)
        digits = " ".join(map(str, small.ravel())).encode()
        (folder / f"largest-{largest}.ppm").write_bytes(b"P6 9 7 %d\n" % largest + small.tobytes())
        (folder / f"largest-{largest}-digits.ppm").write_bytes(b"P3 9 7 %d\n" % largest + digits)
        (folder / f"largest-{largest}.pgm").write_bytes(b"P5 27 7 %d\n" % largest + small.tobytes())
        (folder / f"largest-{largest}-digits.pgm").write_bytes(b"P2 27 7 %d\n" % largest + digits)
    images["rgb"].save(folder / "lossless.jp2")
    for orientation in range(1, 9):
        for ending in ("png", "webp", "tif"):
            more = dict(lossless=True) if ending == "webp" else {}
            images["rgb"].save(folder / f"turned-{orientation}.{ending}", exif=exif(orientation), **more)


def compare(folder, bound, upright=True):
    worst = 0
    for color, mode in (("rgb", "RGB"), ("rgba", "RGBA"), ("grey", "L")):
        items = read_folder(folder, color=color, orientation="apply" if upright else "ignore")
        for name, item in items.items():
            what = f"{name} as {color}"
            if "error" in item:
                check(False, f"{what}: {item['error']}")
                continue
            if color == "grey" and name.endswith(".jpg"):
                continue  # see jpeg_grey
            wanted = by_pillow(folder / name, mode, upright)
            if color == "rgba" and name.endswith(".jpg"):
                check((item["image"][:, :, 3] == 255).all(), f"{what}: alpha")
            if wanted.shape != item["image"].shape:
                check(False, f"{what}: {item['image'].shape}, not {wanted.shape}")
                continue
            apart = int(np.abs(wanted.astype(int) - item["image"].astype(int)).max())
            worst = max(worst, apart)
            check(apart <= bound, f"{what}: {apart} apart")
    return worst


def jpeg_grey(folder):
    """Grey of JPEG is its luminance as it is stored: Pillow's draft("L")."""
    worst = 0
    for name, item in read_folder(folder, color="grey").items():
        image = Image.open(folder / name)
        if image.mode != "RGB" or name == "rgb.jpg":
            continue
        image.draft("L", image.size)
        wanted = np.asarray(ImageOps.exif_transpose(image))[:, :, None]
        apart = int(np.abs(wanted.astype(int) - item["image"].astype(int)).max())
        worst = max(worst, apart)
        check(apart <= JPEG_BOUND, f"{name}: luminance {apart} apart")
    return worst


def sixteen_bits(folder):
    values = np.random.default_rng(3).integers(0, 65536, (19, 23)).astype(np.uint16)
    Image.fromarray(values).save(folder / "grey.png")
    Image.fromarray(values).save(folder / "grey.tif")
    Image.fromarray(photo(23, 19, 3)).save(folder / "eight.png")
    wide = read_folder(folder, bits=16)
    narrow = read_folder(folder)
    for name in ("grey.png", "grey.tif"):
        for channel in range(3):
            check((wide[name]["image"][:, :, channel] == values).all(), f"{name}: 16 bits are kept")
            check((narrow[name]["image"][:, :, channel] == values >> 8).all(), f"{name}: the upper 8 bits are taken")
        check(wide[name]["image"].dtype == np.int32, f"{name}: int32")
    check((wide["eight.png"]["image"] == photo(23, 19, 3).astype(int) * 257).all(), "8 bits are widened by 257")


def png(values, kind):
    """A PNG file of 16 bits, which Pillow does not write in colours."""
    height, width, _ = values.shape
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in values)
    parts = ((b"IHDR", struct.pack(">IIBBBBB", width, height, 16, kind, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    chunks = (struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def sixteen_bits_in_colours(folder):
    """Grey with alpha, colours, and colours with alpha: to the bit, or their upper 8 bits."""
    written = {"grey-alpha.png": (4, 2), "rgb.png": (2, 3), "rgba.png": (6, 4), "grey.pgm": (5, 1), "rgb.ppm": (6, 3)}
    wanted = {}
    for name, (kind, channels) in written.items():
        values = np.random.default_rng(kind).integers(0, 65536, (5, 7, channels)).astype(np.uint16)
        head = b"P%d 7 5 65535\n" % kind
        (folder / name).write_bytes(png(values, kind) if name.endswith("png") else head + values.astype(">u2").tobytes())
        colours = values[:, :, :3] if channels > 2 else np.repeat(values[:, :, :1], 3, 2)
        alpha = values[:, :, -1:] if channels % 2 == 0 else np.full((5, 7, 1), 65535, np.uint16)
        wanted[name] = np.concatenate([colours, alpha], 2).astype(int)
    for color, channels in (("rgb", 3), ("rgba", 4)):
        wide, narrow = read_folder(folder, bits=16, color=color), read_folder(folder, color=color)
        for name, values in wanted.items():
            for item, right in ((wide[name], values), (narrow[name], values >> 8)):
                what = f"{name}, 16 bits as {color}"
                check("error" not in item and (item["image"] == right[:, :, :channels]).all(), f"{what}: {item.get('error')}")


def partial(folder):
    """Regions of JPEG, of turned images and of other formats are those of the whole, to the bit."""
    for name, sampling in SAMPLINGS.items():
        for progressive in (False, True):
            for restart in (0, 2):
                for width, height in ((37, 35), (131, 99), (17, 40)):
                    kind = dict(width=width, height=height, sampling=sampling, progressive=progressive)
                    kind["restart"] = restart
                    tool("write", folder / f"{name}-{progressive:d}-{restart}-{width}.jpg", json.dumps(kind))
    tool("write", folder / "grey.jpg", json.dumps(dict(width=67, height=35, space="grey")))
    tool("write", folder / "ycck.jpg",
         json.dumps(dict(width=67, height=35, space="ycck", sampling=[[2, 2], [1, 1], [1, 1], [2, 2]])))
    for orientation in range(1, 9):
        Image.fromarray(photo(35, 29, 3)).save(folder / f"turned-{orientation}.jpg", exif=exif(orientation))
        Image.fromarray(photo(21, 17, 3)).save(folder / f"turned-{orientation}.png", exif=exif(orientation))
    told = json.loads(tool("parts", PLUGIN, "image_folder", json.dumps(dict(path=str(folder), labels=False))))
    check(told["different"] == 0 and told["tried"] > 100000, f"regions: {told}")
    return told["tried"]


def masks(folder):
    """Palettes give their indices, grey its stored values."""
    (folder / "images").mkdir()
    (folder / "masks").mkdir()
    numbers = np.random.default_rng(5).integers(0, 4, (31, 22)).astype(np.uint8)
    palette = Image.fromarray(numbers).convert("P")
    palette.putpalette([200, 10, 10, 3, 4, 250, 7, 7, 7, 0, 255, 0])
    two = Image.fromarray((numbers % 2) * 255).convert("1")
    wide = Image.fromarray(numbers.astype(np.uint16))
    grey = Image.fromarray(numbers)
    small = Image.fromarray(numbers).convert("P")
    small.putpalette([9, 9, 9, 8, 8, 8, 1, 2, 3, 5, 5, 5])
    written = {"palette": (palette, {}, "png"), "bits": (two, {}, "png"), "wide": (wide, {}, "png"),
               "grey": (grey, {}, "png"), "four": (small, {"bits": 2}, "png"), "tiff": (grey, {}, "tif"),
               "colours": (grey.convert("RGB"), {}, "png")}
    for name, (image, more, ending) in written.items():
        image.save(folder / "masks" / f"{name}.{ending}", **more)
        Image.fromarray(photo(22, 31, 3)).save(folder / "images" / f"{name}.jpg")
    told = read("segmentation", images=str(folder / "images"), masks=str(folder / "masks"), classes=4)
    for name, item in zip(sorted(written), told["items"]):
        wanted = numbers % 2 if name == "bits" else numbers
        check("error" not in item and (item["mask"] == wanted).all(), f"mask {name}: {item.get('error')}")
    told = read("segmentation", images=str(folder / "images"), masks=str(folder / "masks"), classes=2,
                values={"0": 1, "1": 0}, ignore=[2, 3])
    renamed = np.array([1, 0, 255, 255])[numbers]
    check((dict(zip(sorted(written), told["items"]))["palette"]["mask"] == renamed).all(), "values are renamed")


def tiff(values, bits, meaning):
    """A TIFF file of greys, little-endian, in one strip: `meaning` 0 says that 0 is white, 1 that it is black."""
    rows = [np.packbits(row) if bits == 1 else row.astype(f"<u{bits // 8}") for row in values]
    data = b"".join(row.tobytes() for row in rows)
    height, width = values.shape
    tags = ((256, width), (257, height), (258, bits), (259, 1), (262, meaning), (273, 8), (277, 1), (278, height),
            (279, len(data)))
    directory = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    return b"II*\0" + struct.pack("<I", 8 + len(data)) + data + struct.pack("<H", len(tags)) + directory + bytes(4)


def masks_alike(folder):
    """One mask holds the same numbers, in whatever format Pillow saved it."""
    (folder / "images").mkdir()
    (folder / "masks").mkdir()
    numbers = np.random.default_rng(6).integers(0, 4, (31, 22)).astype(np.uint8)
    palette = Image.fromarray(numbers).convert("P")
    palette.putpalette([200, 10, 10, 3, 4, 250, 7, 7, 7, 0, 255, 0])
    greys = Image.fromarray(numbers).convert("P")
    greys.putpalette([0, 0, 0, 80, 80, 80, 160, 160, 160, 255, 255, 255])
    bits = Image.fromarray((numbers % 2) * 255).convert("1")
    saved = {
        "palette": (palette, ("png", "bmp", "tif"), {}),
        "greys-of-a-palette": (greys, ("png", "bmp", "tif"), {}),
        "grey": (Image.fromarray(numbers), ("png", "bmp", "tif", "pgm"), {}),
        "wide": (Image.fromarray(numbers.astype(np.uint16)), ("png", "tif"), {}),
        "bits": (bits, ("png", "bmp", "tif", "pbm"), {}),
        "fax": (bits, ("tif",), {"compression": "group4"}),
    }
    names = []
    for name, (image, endings, more) in saved.items():
        for ending in endings:
            image.save(folder / "masks" / f"{name}-{ending}.{ending}", **more)
            names.append(f"{name}-{ending}")
    for name, meaning in (("bits-black", 1), ("bits-white", 0)):
        values = numbers % 2 if meaning else 1 - numbers % 2
        (folder / "masks" / f"{name}.tif").write_bytes(tiff(values, 1, meaning))
        names.append(name)
    for bits in (8, 16):
        (folder / "masks" / f"inverted-{bits}.tif").write_bytes(tiff(numbers, bits, 0))
        names.append(f"inverted-{bits}")
    for name in names:
        Image.fromarray(photo(22, 31, 3)).save(folder / "images" / f"{name}.png")
    told = read("segmentation", images=str(folder / "images"), masks=str(folder / "masks"), classes=4)
    for name, item in zip(sorted(names), told["items"]):
        if name.startswith("inverted"):
            check("0 is white" in item.get("error", ""), f"mask {name}: {item.get('error', 'no error')}")
            continue
        wanted = numbers % 2 if name.startswith(("bits", "fax")) else numbers
        check("error" not in item and (item["mask"] == wanted).all(), f"mask {name}: {item.get('error', 'other numbers')}")


def turned_masks(folder):
    """Each file is turned by its own EXIF data: a mask without any belongs to the upright image."""
    for name in ("images", "upright", "stored", "turned"):
        (folder / name).mkdir()
    numbers = np.random.default_rng(7).integers(0, 4, (31, 22)).astype(np.uint8)
    upright = {}
    for orientation in range(1, 9):
        name = f"{orientation}.png"
        Image.fromarray(photo(22, 31, 3)).save(folder / "images" / name, exif=exif(orientation))
        stored = Image.fromarray(numbers)
        stored.save(folder / "stored" / name)
        stored.save(folder / "turned" / name, exif=exif(orientation))
        turned = ImageOps.exif_transpose(Image.open(folder / "turned" / name))
        turned.info.pop("exif", None)
        turned.save(folder / "upright" / name)
        upright[orientation] = np.asarray(turned)

    def pairs(masks, **params):
        return read("segmentation", images=str(folder / "images"), masks=str(folder / masks), classes=4, **params)["items"]

    for masks in ("upright", "turned"):
        for orientation, item in enumerate(pairs(masks), 1):
            check("error" not in item and (item["mask"] == upright[orientation]).all(),
                  f"mask {masks}, orientation {orientation}: {item.get('error', 'other numbers')}")
            check(item["image"].shape[:2] == item["mask"].shape, f"mask {masks}, orientation {orientation}: shapes")
    for item in pairs("stored", orientation="ignore") + pairs("turned", orientation="ignore"):
        check((item["mask"] == numbers).all() and (item["image"] == photo(22, 31, 3)).all(), "pairs as they are stored")
    for orientation, item in enumerate(pairs("stored"), 1):
        if orientation > 4:
            words = item.get("error", "no error")
            check('"orientation": "ignore"' in words, f"a mask of the stored image, orientation {orientation}: {words}")


def damaged(folder):
    """500 damaged copies of each format: an error that names the file, or an image; never a crash."""
    rgb = Image.fromarray(photo(61, 47, 3))
    random.seed(7)
    for ending in ("jpg", "png", "webp", "bmp", "tif", "ppm", "jp2"):
        whole = folder / f"whole.{ending}"
        rgb.save(whole, **({"exif": exif(6)} if ending in ("jpg", "png", "webp") else {}))
        content = whole.read_bytes()
        copies = folder / ending
        copies.mkdir()
        for i in range(500):
            data = bytearray(content)
            if i % 3 == 0:
                data = data[:random.randrange(len(data))]
            for _ in range(0 if i % 3 == 0 else 1 + i % 5):
                # The head of a file decides more than its body.
                at = random.randrange(min(len(data), 200) if i % 2 else len(data))
                data[at] = random.randrange(256)
            (copies / f"{i:03}.{ending}").write_bytes(data)
        cut_alone = folder / f"cut-{ending}"
        cut_alone.mkdir()
        for i in range(0, 500, 3):
            (cut_alone / f"{i:03}.{ending}").write_bytes((copies / f"{i:03}.{ending}").read_bytes())
        read("image_folder", path=str(cut_alone), labels=False)
        check(said[-1] == "", f"damaged {ending}: files that are cut off are told on the console: {said[-1][:300]}")
        told = read("image_folder", path=str(copies), labels=False)
        errors = [(i, item["error"]) for i, item in enumerate(told["items"]) if "error" in item]
        check(len(told["items"]) == 500, f"damaged {ending}: {told.get('error')}")
        check(all(error.startswith(f"{copies}/{i:03}.{ending}: ") for i, error in errors), f"damaged {ending}: names")
        cut = [error for i, error in errors if i % 3 == 0]
        check(len(cut) == 167, f"damaged {ending}: {len(cut)} of 167 that are cut off are refused")
        print(f"  {ending}: {len(errors)} of 500 refused, all that are cut off among them; such as {cut[-1]}")


@contextlib.contextmanager
def console_closed():
    """Pillow's libtiff writes what it finds to the console."""
    sys.stderr.flush()
    before, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nothing)


def damaged_tiff(folder):
    """What Pillow refuses of compressed TIFF with one byte changed is refused here too, with libtiff's words."""
    rgb = Image.fromarray(photo(61, 47, 3))
    for compression in ("tiff_lzw", "tiff_deflate", "tiff_adobe_deflate", "lzma", "packbits"):
        copies = folder / compression
        copies.mkdir()
        rgb.save(copies / "whole.tif", compression=compression)
        whole = (copies / "whole.tif").read_bytes()
        tags = Image.open(copies / "whole.tif").tag_v2
        begin, size = tags[273][0], tags[279][0]
        by_us_alone, by_pillow_too, kept = 0, 0, 0
        for i in range(60):
            data = bytearray(whole)
            data[begin + i * size // 60] ^= (1, 0x80, 0xFF)[i % 3]
            (copies / f"{i:02}.tif").write_bytes(data)
        items = read_folder(copies)
        check(said[-1] == "", f"damaged {compression}: told on the console: {said[-1][:300]}")
        for name, item in items.items():
            error = item.get("error")
            try:
                with console_closed():
                    wanted = by_pillow(copies / name, "RGB")
            except OSError:
                check(error is not None, f"damaged {compression}: {name} is read, and Pillow refuses it")
                check("libtiff says" in (error or "libtiff says"), f"damaged {compression}: {name}: {error}")
                by_pillow_too += 1
                continue
            if name == "whole.tif":
                check(error is None and (item["image"] == wanted).all(), f"{compression}: the whole file: {error}")
            by_us_alone += error is not None
            kept += error is None
        check(by_pillow_too > 0 or compression == "packbits", f"damaged {compression}: Pillow refuses nothing")
        print(f"  {compression}: {by_pillow_too} of 60 refused as Pillow does, {by_us_alone} here alone, {kept - 1} read")


def damaged_after_another(folder):
    """A JPEG that is cut off within its header is told as that, and not with the size of the image before it."""
    Image.fromarray(photo(83, 61, 3)).save(folder / "0.jpg")
    whole = (folder / "0.jpg").read_bytes()
    scan = whole.index(b"\xff\xda")
    cuts = (4, 20, 100, scan, scan + 5)
    for i, cut in enumerate(cuts, 1):
        (folder / f"{i}.jpg").write_bytes(whole[:cut])
    (folder / "6.jpg").write_bytes(whole[:scan + 200])
    for orientation in ("apply", "ignore"):
        items = read_folder(folder, orientation=orientation)
        check("error" not in items["0.jpg"], "the whole file is read")
        for i, cut in enumerate(cuts, 1):
            words = items[f"{i}.jpg"].get("error", "no error")
            check(words.endswith("is cut off: the JPEG data ends before its header does"), f"cut at {cut}: {words}")
        words = items["6.jpg"].get("error", "no error")
        check("the last of its 83 x 61 pixels" in words, f"cut within the pixels: {words}")


def mended(png):
    """A PNG file whose checksums fit its data again."""
    data, at = bytearray(png), 8
    while at < len(data):
        end = at + 8 + int.from_bytes(data[at:at + 4], "big")
        data[end:end + 4] = zlib.crc32(data[at + 4:end]).to_bytes(4, "big")
        at = end + 4
    return bytes(data)


def refused_heads(folder):
    """Heads that tell what no file can hold are refused before memory is taken for it, of masks too."""
    (folder / "images").mkdir()
    (folder / "masks").mkdir()
    palette = Image.fromarray(photo(22, 31, 3)).quantize(5)
    palette.save(folder / "whole.png")
    whole = (folder / "whole.png").read_bytes()
    for name, at, value, words in (("depth", 24, 40, "values of 40 bits"), ("size", 16, 127, "tells a size of 21307")):
        broken = bytearray(whole)
        broken[at] = value
        (folder / "masks" / f"{name}.png").write_bytes(mended(broken))
        Image.fromarray(photo(22, 31, 3)).save(folder / "images" / f"{name}.png")
        item = read_folder(folder / "masks")[f"{name}.png"]
        check(words in item.get("error", ""), f"{name}: {item.get('error', 'no error')}")
    told = read("segmentation", images=str(folder / "images"), masks=str(folder / "masks"), classes=5)
    check(all("is damaged" in item.get("error", "") for item in told["items"]), f"heads of masks: {told['items']}")


def refused(folder):
    """What is no image of ours is named for what it is."""
    wanted = {
        "gif.png": (b"GIF89a" + bytes(30), "GIF"),
        "empty.png": (b"", "is empty"),
        "text.png": (b"hello world", "is no image: it begins with 68 65"),
        "page.jpg": (b"<!DOCTYPE html><html>", "web page"),
        "lfs.jpg": (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        "cut.jpg": (b"\xff\xd8\xff\xe0", "cut off"),
    }
    for name, (content, _) in wanted.items():
        (folder / name).write_bytes(content)
    Image.fromarray(photo(9, 9, 3)).save(folder / "film.webp", save_all=True,
                                         append_images=[Image.fromarray(photo(9, 9, 3, 2))])
    Image.fromarray(np.zeros((4, 4), np.float32)).save(folder / "float.tif")
    wanted["film.webp"] = (None, "animated")
    wanted["float.tif"] = (None, "8 or 16 bits")
    for name, item in read_folder(folder).items():
        check(wanted[name][1] in item.get("error", ""), f"{name}: {item.get('error', 'no error')}")


def tiles(folder):
    """Tiles put together again are the image."""
    image = photo(150, 101, 3)
    Image.fromarray(image).save(folder / "large.png")
    tool("write", folder / "large.jpg", json.dumps(dict(width=150, height=101, sampling=SAMPLINGS["420"])))
    for name in ("large.png", "large.jpg"):
        whole = by_pillow(folder / name, "RGB") if name.endswith("png") else None
        if whole is None:
            (folder / "only").mkdir()
            (folder / "only" / name).write_bytes((folder / name).read_bytes())
            whole = read_folder(folder / "only")[name]["image"]
        told = read("tiles", path=str(folder / name), height=32, width=48, overlap=5)
        seen = np.zeros(whole.shape[:2], int)
        for item in told["items"]:
            top, left = item["origin"]
            seen[top:top + 32, left:left + 48] += 1
            check((item["image"] == whole[top:top + 32, left:left + 48]).all(), f"{name}: tile at {top}, {left}")
        check(len(told["items"]) == 4 * 4 and seen.min() == 1, f"{name}: {len(told['items'])} tiles cover it")


def main():
    with tempfile.TemporaryDirectory() as root:
        def folder(name):
            made = Path(root) / name
            made.mkdir()
            return made

        jpegs, others = folder("jpegs"), folder("others")
        write_jpegs(jpegs)
        write_others(others)
        print("JPEG: at most", compare(jpegs, JPEG_BOUND), "apart; luminance", jpeg_grey(jpegs))
        compare(jpegs, JPEG_BOUND, upright=False)
        print("others: at most", compare(others, 0), "apart")
        compare(others, 0, upright=False)
        sixteen_bits(folder("sixteen"))
        sixteen_bits_in_colours(folder("sixteen-colours"))
        masks(folder("masks"))
        masks_alike(folder("masks-alike"))
        turned_masks(folder("turned-masks"))
        tiles(folder("tiles"))
        refused(folder("refused"))
        refused_heads(folder("heads"))
        damaged(folder("damaged"))
        damaged_tiff(folder("damaged-tiff"))
        damaged_after_another(folder("damaged-jpeg"))
        print("regions compared:", partial(folder("partial")))
    if failures:
        print(len(failures), "failed")
        sys.exit(1)
    print("all equal")


main()
