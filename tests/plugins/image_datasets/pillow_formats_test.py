"""Images of every format, read by dataset:image_folder, equal what Pillow makes of them.

Bounds: PNG, WebP, BMP, TIFF, PNM and JPEG 2000 without loss: equal to the bit, in all colours and orientations. JPEG:
equal to the bit where Pillow's libjpeg-turbo agrees with ours, else at most JPEG_BOUND apart.
"""
import json
import struct
import zlib

# Ends this script, too, where there is no Pillow.
from pillow_compare import SAMPLINGS, by_pillow, check, exif, photo, read_folder, run, tool

import numpy as np
from PIL import Image, ImageOps


JPEG_BOUND = 1


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


def jpegs(folder):
    write_jpegs(folder)
    print("JPEG: at most", compare(folder, JPEG_BOUND), "apart; luminance", jpeg_grey(folder))
    compare(folder, JPEG_BOUND, upright=False)


def others(folder):
    write_others(folder)
    print("others: at most", compare(folder, 0), "apart")
    compare(folder, 0, upright=False)


run(jpegs=jpegs, others=others, sixteen=sixteen_bits, sixteen_in_colours=sixteen_bits_in_colours)
